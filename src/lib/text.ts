/** Text of strangers, made fit for a line that somebody reads. */

/** Control characters and what breaks a line without being one. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
/**
 * What shows nothing and changes how the rest shows: marks of direction, with which a text can be made to read
 * as another, blanks of no width, and tags. The joiners stay: scripts and emoji need them.
 */
const UNSEEN = /[\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E007F}]/gu;

/** The beginning of a text, of at most `maxLength` UTF-16 units and whole code points. */
export function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const last = text.charCodeAt(maxLength - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? maxLength - 1 : maxLength);
}

/** The same, saying by an ellipsis that something is missing; the ellipsis counts. */
export function shortened(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${cut(text, maxLength - 1).trimEnd()}…`;
}

/** One line, with nothing in it that is not seen. */
export function onOneLine(text: string): string {
  return text.toWellFormed().replace(BREAKS, ' ').replace(UNSEEN, '').replace(/\s+/g, ' ').trim();
}
