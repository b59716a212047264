/** A server that holds two million live events: what they take of memory, and whether ingest waits longer. */
import { LoadClient } from '../load/client.ts';
import { type Latencies, PERCENTILES } from '../load/constant-rate.ts';
import type { Traffic } from '../load/traffic.ts';
import { median } from '../measure/median.ts';
import { residentMemory } from '../measure/process-usage.ts';
import { whenQuiet } from '../measure/quiet.ts';
import type { LinePlot } from '../report/plot.ts';
import type { RatioRow, Row } from '../report/row.ts';
import { type Foreshock, startForeshock, UNSHED } from '../servers/foreshock.ts';
import type { Findings, Scope } from '../subject.ts';
import { agentsOf, fillerOf } from './filled.ts';

const LIVE_EVENTS = 2_000_000;
const FILL_STEPS = 20;
const SERVICES = 1000;
const AGENTS = 100;
const LIFE = { type: 'ttl', seconds: 24 * 3600 } as const;

/** Gone before the next round: the empty server stays empty. */
const BRIEF = { type: 'ttl', seconds: 1 } as const;
const WARM_UP_EVENTS = 200_000;

const PER_SECOND = 20_000;
const CONNECTIONS = 64;
/**
 * Many: the 99th percentile of one round is 2 to 10 ms, as the machine holds up one process or the other, and of the middles
 * of eleven, ours came to 0.5 to 1.6 times that of an empty server.
 */
const ROUND_SECONDS = 2;
const ROUNDS = 21;

export async function full(scope: Scope): Promise<Findings> {
  const server = scope.add(await startForeshock(UNSHED));
  const empty = scope.add(await startForeshock(UNSHED));
  const client = scope.add(new LoadClient());
  const of = {
    full: { keys: await agentsOf(client, server, AGENTS), services: SERVICES },
    empty: { keys: await agentsOf(client, empty, AGENTS), services: SERVICES },
  };
  const memory = await fillWatched(client, server, of.full);
  // The code of the one server has been compiled by now, and of the other it should be too.
  await client.send(empty.port, WARM_UP_EVENTS, { ...of.empty, life: BRIEF, batch: 1 });
  await whenQuiet(empty.pid);
  const rates = { full: [] as Latencies[], empty: [] as Latencies[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const turns = [
      async () => rates.empty.push(await atConstantRate(client, empty, of.empty)),
      async () => rates.full.push(await atConstantRate(client, server, of.full)),
    ];
    // Either may be the one that runs while the other still has its disk at work.
    for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
  }
  const latencies = { full: medians(rates.full), empty: medians(rates.empty) };
  const rows = [...memory.rows, latencyRow(99, latencies), latencyRow(99.9, latencies)];
  return { rows, plots: [memory.plot, latencyPlot(latencies)] };
}

async function fillWatched(client: LoadClient, server: Foreshock, of: Pick<Traffic, 'keys' | 'services'>) {
  const before = residentMemory(server.pid).nowBytes;
  const fill = await fillerOf(client, server, of);
  const points: [number, number][] = [[0, 0]];
  for (let step = 1; step <= FILL_STEPS; step += 1) {
    await fill(LIVE_EVENTS / FILL_STEPS, LIFE);
    const grownBytes = residentMemory(server.pid).nowBytes - before;
    points.push([(step * LIVE_EVENTS) / FILL_STEPS, grownBytes / 1e6]);
  }
  // A checkpoint that is being made holds the live events a second time, for as long.
  await whenQuiet(server.pid);
  const { nowBytes, peakBytes } = residentMemory(server.pid);
  points.push([LIVE_EVENTS, (nowBytes - before) / 1e6]);
  const row: Row = {
    type: 'figure',
    better: 'lower',
    what: `resident memory a live event, of ${LIVE_EVENTS.toLocaleString('en')}`,
    unit: 'B',
    ours: (nowBytes - before) / LIVE_EVENTS,
    peer: { name: 'at its peak', figure: (peakBytes - before) / LIVE_EVENTS },
    least: 400,
    aim: 250,
  };
  const plot: LinePlot = {
    type: 'lines',
    file: 'memory.svg',
    title: 'Resident memory beyond an empty server, while it is filled and after',
    x: { label: 'live events', scale: 'linear' },
    y: { label: 'MB', scale: 'linear' },
    lines: [
      { name: 'Foreshock', points },
      {
        name: '400 B an event',
        points: [
          [0, 0],
          [LIVE_EVENTS, (LIVE_EVENTS * 400) / 1e6],
        ],
        dashed: true,
      },
    ],
  };
  return { rows: [row], plot };
}

function atConstantRate(client: LoadClient, { port }: Foreshock, of: Pick<Traffic, 'keys' | 'services'>) {
  const rate = {
    port,
    connections: CONNECTIONS,
    perSecond: PER_SECOND,
    seconds: ROUND_SECONDS,
    overdue: 'sent',
  } as const;
  return client.constantRate(rate, { ...of, life: BRIEF, batch: 1 });
}

interface ByServer {
  readonly full: readonly number[];
  readonly empty: readonly number[];
}

/** At each percentile, the middle of the rounds. */
function medians(rounds: readonly Latencies[]): number[] {
  return PERCENTILES.map((_, at) =>
    median(rounds.map(({ percentilesMs }) => percentilesMs[at] ?? Number.NaN)),
  );
}

function latencyRow(percentile: 99 | 99.9, { full, empty }: ByServer): RatioRow {
  const at = PERCENTILES.indexOf(percentile);
  return {
    type: 'growth',
    what: `ingest at ${PER_SECOND.toLocaleString('en')}/s with ${LIVE_EVENTS.toLocaleString('en')} live events: p${percentile}`,
    unit: 'ms',
    ours: full[at] ?? Number.NaN,
    peer: { name: 'an empty server', figure: empty[at] ?? Number.NaN },
    least: 1.5,
    aim: 1.1,
  };
}

function latencyPlot({ full, empty }: ByServer): LinePlot {
  const points = (latencies: readonly number[]) =>
    PERCENTILES.map((percentile, at): [number, number] => [percentile, latencies[at] ?? Number.NaN]);
  return {
    type: 'lines',
    file: 'latency.svg',
    title: `Latency of ingest at a constant ${PER_SECOND.toLocaleString('en')}/s, from when it was due`,
    x: { label: 'percentile', scale: 'percentile' },
    y: { label: 'ms', scale: 'log' },
    lines: [
      { name: 'empty', points: points(empty) },
      { name: `${LIVE_EVENTS.toLocaleString('en')} live events`, points: points(full) },
    ],
  };
}
