/**
 * Requests at a constant rate that nobody's answers slow down, counted by what became of them: those that were taken
 * (2xx) with their latency from when they were due, and those that were refused (503). Many callers, each with `depth`
 * requests under way at most: what is due beyond that waits with its caller, and its latency counts on.
 */
import { createHistogram } from 'node:perf_hooks';
import { Connection } from './connection.ts';

export interface Stream {
  readonly port: number;
  readonly connections: number;
  /** Requests under way on a connection. */
  readonly depth: number;
  readonly perSecond: number;
  readonly nextRequest: () => string;
}

export interface StreamResult {
  /** Answered with 2xx while requests were sent, a second. */
  readonly takenPerSecond: number;
  readonly shedPerSecond: number;
  /** Of those that were taken, from when they were due. */
  readonly medianMs: number;
  readonly p99Ms: number;
  /** Due and not answered when the time was over. */
  readonly unanswered: number;
}

/** Runs streams beside each other; what is answered in the first `warmUpSeconds` is not counted. */
export async function openLoop(
  streams: readonly Stream[],
  warmUpSeconds: number,
  seconds: number,
): Promise<readonly StreamResult[]> {
  const runs = await Promise.all(streams.map(open));
  const startMs = performance.now();
  const countFromMs = startMs + warmUpSeconds * 1000;
  const endMs = countFromMs + seconds * 1000;
  for (const run of runs) run.countFromMs = countFromMs;
  for (let nowMs = startMs; nowMs < endMs; nowMs = performance.now()) {
    for (const run of runs) run.sendDue(startMs, nowMs);
    // A few milliseconds late is nothing here, and a client that spins takes a core from the server.
    await new Promise((done) => setTimeout(done, 2));
  }
  return runs.map((run) => run.end(seconds));
}

interface Run {
  countFromMs: number;
  sendDue(startMs: number, nowMs: number): void;
  end(seconds: number): StreamResult;
}

async function open({ port, connections, depth, perSecond, nextRequest }: Stream): Promise<Run> {
  const latencies = createHistogram({ lowest: 1, highest: 120_000_000_000, figures: 3 });
  let taken = 0;
  let shed = 0;
  let sent = 0;
  let answered = 0;
  let failure: Error | undefined;
  const run: Run = {
    countFromMs: Number.POSITIVE_INFINITY,
    sendDue: (startMs, nowMs) => {
      if (failure !== undefined) throw failure;
      const due = Math.floor(((nowMs - startMs) / 1000) * perSecond);
      for (; sent < due; sent += 1) {
        const lane = lanes[sent % lanes.length];
        if (lane === undefined) continue;
        lane.due.push(startMs + (sent / perSecond) * 1000);
        if (lane.due.length <= depth) lane.connection.send(nextRequest());
      }
    },
    end: (seconds) => {
      for (const { connection } of lanes) connection.close();
      return {
        takenPerSecond: taken / seconds,
        shedPerSecond: shed / seconds,
        medianMs: latencies.percentile(50) / 1e6,
        p99Ms: latencies.percentile(99) / 1e6,
        unanswered: sent - answered,
      };
    },
  };
  const lanes = await Promise.all(
    Array.from({ length: connections }, async () => {
      const due: number[] = [];
      const connection = await Connection.open(
        port,
        (status) => {
          const nowMs = performance.now();
          const dueMs = due.shift() ?? nowMs;
          answered += 1;
          if (due.length >= depth) connection.send(nextRequest());
          if (nowMs < run.countFromMs) return;
          if (status === 503) shed += 1;
          else if (status >= 200 && status <= 299) {
            taken += 1;
            latencies.record(Math.max(1, Math.round((nowMs - dueMs) * 1e6)));
          } else failure = new Error(`answered ${status}`);
        },
        (error) => {
          failure = error;
        },
      );
      return { connection, due };
    }),
  );
  return run;
}
