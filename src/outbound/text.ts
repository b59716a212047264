/** Text for other tools and for people, of a length that they take. */

/**
 * At most `maxLength` UTF-16 units, which is never more characters than that; what is longer ends in an ellipsis,
 * and no surrogate pair is cut in two.
 */
export function clipped(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** On one line: what would end it, move the cursor or turn the direction of writing becomes a space. */
export function onOneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
