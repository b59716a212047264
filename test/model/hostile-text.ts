/** Text that something on the way may take for more, or for less, than text. All of it is well-formed Unicode. */
import fc from 'fast-check';

export const HOSTILE_TEXTS: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  '\0',
  'a\0b',
  // TinyBase drops cells that begin with the first, and uses the second for undefined.
  '\uFFFDcell',
  '\uFFFC',
  // A byte order mark, which decoders of UTF-8 like to take off; short and long.
  '\uFEFFmarked',
  `\uFEFF${'marked '.repeat(20)}`,
  '\uFEFF\uFEFF',
  '😀👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  '\u{10FFFF}',
  // One letter to a reader, two names to us.
  'é',
  'e\u0301',
  '\u2028\u2029',
  '"],"\\u0000\\',
  '../../etc/passwd',
  '$$h_0',
  ' ',
  'x'.repeat(5000),
  '𝒳'.repeat(1500),
];

/** Any text, mostly short, at times hostile. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', minLength: 60, maxLength: 300 }) },
);
