/**
 * The last resort for what is said to an operator: nothing that we say should hold a secret, but errors of libraries,
 * of the system and of the command line quote what they were given, and logs are read by many.
 */
const MASKED: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/fsk_(ing|ro)_[0-9A-Za-z]+/g, 'fsk_$1_[redacted]'],
  [/(\/webhooks\/[^/\s]*\/)[^/\s?#"'\\,]+/g, '$1[redacted]'],
  [/\b(Bearer +|Basic +|Token token= *)[^\s"'\\,]+/gi, '$1[redacted]'],
  [/(:\/\/)[^/\s@"'\\]+@/g, '$1[redacted]@'],
];

/** A text with every key, webhook token, Authorization value and URL password that has the form of one masked. */
export function withoutSecrets(text: string): string {
  return MASKED.reduce((masked, [pattern, replacement]) => masked.replace(pattern, replacement), text);
}
