/** The browser's clock, and how times are said. */

export function nowMs(): number {
  return Date.now();
}

/** `3 min ago`, to be read at a glance. */
export function ago(epochMs: number, now: number): string {
  const seconds = Math.round((now - epochMs) / 1000);
  if (seconds < 0) return `in ${span(-seconds)}`;
  return seconds < 5 ? 'just now' : `${span(seconds)} ago`;
}

/** How long it was from one time to another. */
export function lasting(fromMs: number, toMs: number): string {
  return span(Math.max(0, Math.round((toMs - fromMs) / 1000)));
}

export function span(seconds: number): string {
  if (seconds < 90 && seconds !== 60) return `${seconds} s`;
  if (seconds < 60 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** As logs have it, and short. */
const hourCycle = 'h23';
const MINUTE = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle });
const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle,
});
const DAY_AND_CLOCK = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle,
});

const DAY = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric' });
const ZONE = new Intl.DateTimeFormat('en', { timeZoneName: 'shortOffset' });
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The lines of a time axis, as far apart as `stepMs`, at round times of the reader's zone; and what stands at each. */
export function axisTimes(
  fromMs: number,
  toMs: number,
  stepMs: number,
): readonly (readonly [number, string])[] {
  const offsetMs = new Date(toMs).getTimezoneOffset() * MINUTE_MS;
  const times: (readonly [number, string])[] = [];
  for (let at = Math.ceil((fromMs - offsetMs) / stepMs) * stepMs + offsetMs; at < toMs; at += stepMs) {
    const isMidnight = (at - offsetMs) % DAY_MS === 0;
    times.push([at, (isMidnight ? DAY : stepMs < MINUTE_MS ? CLOCK : MINUTE).format(at)]);
  }
  return times;
}

/** The reader's time zone, as its distance from UTC: all times are of it. */
export function zoneName(epochMs: number): string {
  const name = ZONE.formatToParts(epochMs).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return name.replace('GMT', 'UTC');
}

/** Of the reader's time zone; with the day where it is another. */
export function clockTime(epochMs: number, now: number): string {
  const isToday = new Date(epochMs).toDateString() === new Date(now).toDateString();
  return (isToday ? CLOCK : DAY_AND_CLOCK).format(epochMs);
}
