/** Which time a picture shows. It follows the present until somebody looks at what has been. */
import { nowMs } from '../clock.ts';
import type { Alert } from '../model.ts';

export const MIN_SPAN_SECONDS = 60;
export const MAX_SPAN_SECONDS = 7 * 86_400;
const FARTHEST_MS = 10 * 365 * 86_400_000;
export const SPANS_SECONDS = [900, 3600, 6 * 3600, 24 * 3600, MAX_SPAN_SECONDS];
/** What is to be in view lies within so much of what is, up to the present. */
const NEAR = 0.8;
const DEFAULT_SPAN_SECONDS = 3600;
/** How much of the picture lies ahead: what is live is seen to end. */
const AHEAD = 0.12;
/** Candidates of less than so much of the best one's score need not be in view. */
const WORTH = 0.3;
/** How much of it lies after the beginning of an alert that is looked back at. */
const AFTER = 0.3;

export class TimeSpan {
  seconds: number;
  /** The right edge, where it does not follow the present. */
  toMs: number | undefined;

  /** As an address has it, whatever it has. */
  constructor(query: URLSearchParams) {
    this.seconds = bounded(Number(query.get('span')) || DEFAULT_SPAN_SECONDS);
    const toMs = Date.parse(query.get('to') ?? '');
    this.toMs = Math.abs(toMs - nowMs()) <= FARTHEST_MS ? toMs : undefined;
  }

  get rightMs(): number {
    return this.toMs ?? nowMs() + this.#aheadMs;
  }

  get leftMs(): number {
    return this.rightMs - this.seconds * 1000;
  }

  get isFollowing(): boolean {
    return this.toMs === undefined;
  }

  follow(): void {
    this.toMs = undefined;
  }

  /** Later by so many widths of the picture; there is nothing to be seen far beyond the present. */
  pan(widths: number): void {
    const toMs = this.rightMs + widths * this.seconds * 1000;
    this.toMs = toMs >= nowMs() + this.#aheadMs ? undefined : toMs;
  }

  /** @param about a place from 0 (left) to 1 that stays where it is */
  zoom(factor: number, about = 0.5): void {
    const seconds = bounded(this.seconds * factor);
    if (this.toMs === undefined) {
      // The present stays at its place.
      this.seconds = seconds;
      return;
    }
    this.toMs += (1 - about) * (seconds - this.seconds) * 1000;
    this.seconds = seconds;
    this.pan(0);
  }

  /**
   * Shows an alert and what it may be due to, as near as can be.
   *
   * @param isFree nobody has chosen how much is in view
   */
  frame({ started_at, candidates = [] }: Alert, isFree: boolean): void {
    const startedMs = Date.parse(started_at);
    const best = candidates[0]?.score ?? 0;
    const began = candidates
      .filter(({ score }) => score >= WORTH * best)
      .map(({ event }) => Date.parse(event.received_at));
    const firstMs = Math.max(Math.min(startedMs, ...began), startedMs - MAX_SPAN_SECONDS * 500);
    const agoSeconds = (nowMs() - firstMs) / 1000;
    // Of what was long ago the present is too far away to be seen beside it.
    const near = SPANS_SECONDS.find((each) => each <= DEFAULT_SPAN_SECONDS && agoSeconds <= NEAR * each);
    if (isFree && this.toMs === undefined && near !== undefined) this.seconds = near;
    const isIn = (ms: number) => ms >= this.leftMs && ms <= this.rightMs;
    if (isIn(startedMs) && isIn(firstMs)) return;
    const neededSeconds = ((startedMs - firstMs) / 1000) * 1.15;
    this.seconds = bounded(Math.max(this.seconds, neededSeconds / (1 - AFTER)));
    this.toMs = startedMs + AFTER * this.seconds * 1000;
    this.pan(0);
  }

  get #aheadMs(): number {
    return AHEAD * this.seconds * 1000;
  }
}

function bounded(seconds: number): number {
  return Math.min(MAX_SPAN_SECONDS, Math.max(MIN_SPAN_SECONDS, Math.round(seconds)));
}
