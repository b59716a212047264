/** The time a log line begins with: `2026-11-20 15:37:46.803 UTC`, in the zone of `log_timezone`. */

export interface LogTime {
  /**
   * The digits read as if they were UTC, milliseconds since the epoch: good for telling how far two lines of the
   * same log are apart (but for the hour that a clock change adds), and for nothing else.
   */
  readonly clockMs: number;
  /** ISO 8601 UTC; null where the zone's name is not one place on earth (`CST`, `IST`). */
  readonly iso: string | null;
}

/** `UTC`, `CET`, `-03`, `+0530`: what PostgreSQL prints for a zone. */
export const LOG_TIME =
  /^(2\d{3}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{3})?) ([A-Za-z]{1,6}|[+-]\d\d(?::?\d\d)?)(?![A-Za-z0-9])/;

const MINUTE_MS = 60_000;

/** The time that the text begins with, or null where it begins with none. */
export function logTimeOf(text: string): LogTime | null {
  const [, digits, zone] = LOG_TIME.exec(text) ?? [];
  if (digits === undefined || zone === undefined) return null;
  const iso = `${digits.replace(' ', 'T')}Z`;
  const clockMs = Date.parse(iso);
  // Date.parse takes February 30th for March 2nd.
  if (Number.isNaN(clockMs) || !new Date(clockMs).toISOString().startsWith(iso.slice(0, 10))) return null;
  const offset = offsetMinutes(zone);
  return { clockMs, iso: offset === null ? null : new Date(clockMs - offset * MINUTE_MS).toISOString() };
}

/** Minutes east of Greenwich; null for a name that several zones share. */
function offsetMinutes(zone: string): number | null {
  if (/^(?:UTC|GMT|Z)$/.test(zone)) return 0;
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  if (hours === undefined) return null;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
