/** How many of these ages, milliseconds, lie in each minute of the last hour, the oldest first. */
export function minutesOf(agesMs: readonly number[]): number[] {
  return Array.from({ length: 60 }, (_, index) => 59 - index).map(
    (minutes) => agesMs.filter((ageMs) => Math.max(0, Math.floor(ageMs / 60_000)) === minutes).length,
  );
}
