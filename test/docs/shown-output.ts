/** Whether a command printed what a document shows of it. */

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`;
const KEY = String.raw`fsk_(?:ing|ro)_\w+`;

/** What is another each time: shown is one of a kind, printed may be any. */
const KINDS = [TIME, UUID, KEY] as const;
const ANY_LINES = '…';

/**
 * Lines are held to each other, blank ones left out. Of JSON the white space is left out, so that a document may
 * break it where it likes.
 *
 * @returns the first shown line that was not printed, or undefined where all were, in order
 */
export function missingLine(shown: string, printed: string, isJson: boolean): string | undefined {
  if (isJson) {
    const pattern = new RegExp(`^${patternOf(withoutSpace(shown))}$`, 's');
    return pattern.test(withoutSpace(printed)) ? undefined : shown;
  }
  const rest = linesOf(printed);
  let mayLeaveOut = false;
  for (const line of linesOf(shown)) {
    if (line.trim() === ANY_LINES) {
      mayLeaveOut = true;
      continue;
    }
    const pattern = new RegExp(`^${patternOf(line)}$`);
    const at = rest.findIndex((text) => pattern.test(text));
    if (at === -1 || (at > 0 && !mayLeaveOut)) return line;
    rest.splice(0, at + 1);
    mayLeaveOut = false;
  }
  const [more] = rest;
  return more === undefined || mayLeaveOut ? undefined : `(nothing, where it printed "${more}")`;
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

function patternOf(shown: string): string {
  const kinds = new RegExp(`(${KINDS.join('|')}|…)`);
  return shown
    .split(kinds)
    .map((part) => {
      if (part === '…') return '.*';
      const kind = KINDS.find((pattern) => new RegExp(`^${pattern}$`).test(part));
      return kind ?? part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
    })
    .join('');
}
