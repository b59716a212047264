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

export function span(seconds: number): string {
  if (seconds < 90 && seconds !== 60) return `${seconds} s`;
  if (seconds < 90 * 60 && seconds !== 3600) return `${Math.round(seconds / 60)} min`;
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

/** What stands at a line of a time axis. */
export function axisTime(epochMs: number, stepMs: number): string {
  return (stepMs < 60_000 ? CLOCK : MINUTE).format(epochMs);
}

/** Of the reader's time zone; with the day where it is another. */
export function clockTime(epochMs: number, now: number): string {
  const isToday = new Date(epochMs).toDateString() === new Date(now).toDateString();
  return (isToday ? CLOCK : DAY_AND_CLOCK).format(epochMs);
}
