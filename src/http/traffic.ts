/**
 * What the listener counts. An answer costs one addition; on the ingest route, whose requests take less than reading
 * the clock twice does in comparison, every 64th is timed, on all others each.
 */
import { REJECTION_KINDS, type RejectionKind } from '../domain/rejection.ts';
import type { Clock } from '../lib/clock.ts';
import { Histogram } from '../lib/histogram.ts';

const OFTEN = new Set(['/v1/events']);
/** A power of two, less one. */
const OFTEN_MASK = 63;

/** The answers of one route, or of all that is no route. */
export class RouteTraffic {
  /** `*` for what is no route, OPTIONS and methods that a path lacks. */
  readonly method: string;
  readonly path: string;
  /** From the head of the request to its answer. */
  readonly duration = new Histogram();
  /** Requests whose caller was gone before the answer. */
  aborted = 0;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #mask: number;
  readonly #rejections: Map<RejectionKind, number>;
  /** By the hundreds of the status. */
  readonly #answered = [0, 0, 0, 0, 0, 0];

  constructor(
    method: string,
    path: string,
    clock: Pick<Clock, 'monotonic'>,
    rejections: Map<RejectionKind, number>,
  ) {
    this.method = method;
    this.path = path;
    this.#clock = clock;
    this.#mask = OFTEN.has(path) ? OFTEN_MASK : 0;
    this.#rejections = rejections;
  }

  /** Undefined where the request is not timed. */
  begin(): number | undefined {
    return ((this.#answered[2] ?? 0) & this.#mask) === 0 ? this.#clock.monotonic() : undefined;
  }

  /** @param begunAt what `begin` answered */
  answered(status: number, begunAt: number | undefined): void {
    const hundreds = (status / 100) | 0;
    this.#answered[hundreds] = (this.#answered[hundreds] ?? 0) + 1;
    if (begunAt !== undefined) this.duration.observe(this.#clock.monotonic() - begunAt);
  }

  rejected(kind: RejectionKind): void {
    this.#rejections.set(kind, (this.#rejections.get(kind) ?? 0) + 1);
  }

  /** Answers whose status begins with this digit. */
  count(hundreds: 2 | 4 | 5): number {
    return this.#answered[hundreds] ?? 0;
  }
}

export class Traffic {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly routes: RouteTraffic[] = [];
  readonly rejections: Map<RejectionKind, number>;
  readonly connections = { open: 0, accepted: 0, refused: 0 };
  /** Of requests that no route takes. */
  readonly other: RouteTraffic;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    // From 0 and not from the first: what appears with a value has had no rate.
    this.rejections = new Map(REJECTION_KINDS.map((kind) => [kind, 0]));
    this.other = this.route('*', '*');
  }

  /** The same for the same route, whoever serves it. */
  route(method: string, path: string): RouteTraffic {
    const known = this.routes.find((each) => each.method === method && each.path === path);
    if (known !== undefined) return known;
    const route = new RouteTraffic(method, path, this.#clock, this.rejections);
    this.routes.push(route);
    return route;
  }
}
