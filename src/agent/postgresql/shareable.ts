/**
 * What may leave the box. SQL never does: it is dropped by the formats, which know where it stands. Values of
 * parameters and raw lines are needed, and may quote a password (`primary_conninfo`), so they pass through here.
 */

const MASK = '***';
const ASSIGNED_SECRET =
  /(password|passwd|passphrase|pwd|secret|token|api_?key)(\s{0,4}[=:]\s{0,4})('{1,2}[^']*'{1,2}|[^\s'",;&]+)/gi;
const URL_PASSWORD = /(:\/\/[^\s/@:]{0,64}:)[^\s/@]{1,256}@/g;

/** Longest `entity`, `old_value`, `new_value` or `actor`, in characters. */
export const MAX_VALUE_LENGTH = 512;
/** Longest `raw_line`, in characters. */
export const MAX_RAW_LINE_LENGTH = 8000;

/** A value on one line, of at most `MAX_VALUE_LENGTH` characters; possibly empty. */
export function shareableValue(text: string): string {
  const oneLine = text
    .slice(0, 2 * MAX_VALUE_LENGTH)
    .replace(/[\x00-\x20\x7f]+/g, ' ')
    .trim();
  return clipped(masked(oneLine), MAX_VALUE_LENGTH);
}

/** A log line of at most `MAX_RAW_LINE_LENGTH` characters. */
export function shareableLine(line: string): string {
  return clipped(masked(line.slice(0, MAX_RAW_LINE_LENGTH).replaceAll('\0', ' ')), MAX_RAW_LINE_LENGTH);
}

function masked(text: string): string {
  return text.replace(ASSIGNED_SECRET, `$1$2${MASK}`).replace(URL_PASSWORD, `$1${MASK}@`);
}

/** Cut without leaving half a surrogate pair, which no JSON reader takes. */
function clipped(text: string, length: number): string {
  const cut = text.length > length ? `${text.slice(0, length - 1)}…` : text;
  return cut.toWellFormed();
}
