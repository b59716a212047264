/**
 * Requests at a constant rate, whatever the server does: request n goes out at n / rate, and its latency counts
 * from then, also where the client or the connection was late. A server that stops for 100 ms is thus charged
 * with all the requests that should have come in meanwhile, not with one (coordinated omission; Tene).
 *
 * The client spins instead of sleeping, since a timer is a millisecond late or more. It takes a core.
 */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { Connection } from './connection.ts';

export interface RateOptions {
  readonly port: number;
  readonly connections: number;
  readonly perSecond: number;
  readonly seconds: number;
  /**
   * What becomes of requests that are overdue because the client itself was held up: sent at once, since their
   * latency is what is asked for, or put off with all that follow, where the burst would be what is measured.
   */
  readonly overdue: 'sent' | 'put-off';
}

export interface Latencies {
  readonly requests: number;
  readonly meanMs: number;
  readonly maxMs: number;
  /** Milliseconds, at each of PERCENTILES. */
  readonly percentilesMs: readonly number[];
}

export const PERCENTILES = [1, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99] as const;

const DRAIN_MS = 10_000;
/** A client that has not come round for longer was held up. */
const HELD_UP_MS = 2;

/** @throws Error where an answer is not 2xx, does not come, or a connection is lost */
export async function constantRate(options: RateOptions, nextRequest: () => string): Promise<Latencies> {
  const { port, connections, perSecond, seconds } = options;
  const total = Math.floor(perSecond * seconds);
  const histogram = createHistogram({ lowest: 1, highest: 60_000_000_000, figures: 3 });
  let answered = 0;
  let failure: Error | undefined;
  const fail = (error: Error) => {
    failure ??= error;
  };
  const lanes = await Promise.all(
    Array.from({ length: connections }, async () => {
      const scheduled: number[] = [];
      const connection = await Connection.open(
        port,
        (status) => {
          if (status < 200 || status > 299) fail(new Error(`answered ${status}`));
          const latencyMs = performance.now() - (scheduled.shift() ?? 0);
          histogram.record(Math.max(1, Math.round(latencyMs * 1e6)));
          answered += 1;
        },
        fail,
      );
      return { connection, scheduled };
    }),
  );
  let startMs = performance.now();
  let nowMs = startMs;
  let sent = 0;
  while (answered < total && failure === undefined) {
    const gapMs = performance.now() - nowMs;
    nowMs += gapMs;
    if (options.overdue === 'put-off' && gapMs > HELD_UP_MS) startMs += gapMs;
    const due = Math.min(total, Math.floor(((nowMs - startMs) / 1000) * perSecond));
    for (; sent < due; sent += 1) {
      const lane = lanes[sent % lanes.length];
      lane?.scheduled.push(startMs + (sent / perSecond) * 1000);
      lane?.connection.send(nextRequest());
    }
    if (nowMs > startMs + seconds * 1000 + DRAIN_MS)
      fail(new Error(`${total - answered} requests were not answered`));
    await new Promise((done) => setImmediate(done));
  }
  for (const { connection } of lanes) connection.close();
  if (failure !== undefined) throw failure;
  return latenciesOf(histogram);
}

function latenciesOf(histogram: RecordableHistogram): Latencies {
  return {
    requests: histogram.count,
    meanMs: histogram.mean / 1e6,
    maxMs: histogram.max / 1e6,
    percentilesMs: PERCENTILES.map((percentile) => histogram.percentile(percentile) / 1e6),
  };
}
