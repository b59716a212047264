/**
 * Which findings are news. The first of a kind is; the same again within `repeatSeconds` is only counted, and the
 * count goes with the next report. Time is the log's own, so reading an old log gives what reading it live gave.
 */
import { withEntry } from './bounded-map.ts';
import { type Finding, KINDS, type KindReport } from './kinds.ts';

interface Report {
  /** Log time of the last report, see `LogTime.clockMs`. */
  readonly clockMs: number;
  /** Findings counted and not reported since. */
  readonly held: number;
}

/** By kind and sameness. */
export type Reports = ReadonlyMap<string, Report>;

export const NO_REPORTS: Reports = new Map();

/** Enough for every kind and many files, parameters and applications; a forgotten one is reported once too often. */
const MAX_REPORTS = 256;

export interface News {
  readonly reports: Reports;
  /** Null where it is no news; otherwise with the count of those held back since the last report. */
  readonly finding: Finding | null;
}

export function newsIn(reports: Reports, finding: Finding, clockMs: number): News {
  const { repeatSeconds }: KindReport = KINDS[finding.kind];
  if (repeatSeconds === null) return { reports, finding };
  const key = `${finding.kind} ${finding.sameAs ?? finding.entity}`;
  const last = reports.get(key);
  // Either way: a log whose clock was set back an hour must not stay silent for that hour.
  const isHeld = last !== undefined && Math.abs(clockMs - last.clockMs) < repeatSeconds * 1000;
  if (isHeld) {
    return { reports: withEntry(reports, key, { ...last, held: last.held + 1 }, MAX_REPORTS), finding: null };
  }
  const held = last?.held ?? 0;
  return {
    reports: withEntry(reports, key, { clockMs, held: 0 }, MAX_REPORTS),
    finding:
      held === 0
        ? finding
        : { ...finding, newValue: `${finding.newValue ?? ''} (${held} more since the last report)` },
  };
}
