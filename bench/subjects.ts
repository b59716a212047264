/** What is measured: each subject runs ours and its peers in turns, so that a noisy machine is noisy for both. */
import { type Load, run } from './load.ts';
import { startBare, startForeshock } from './servers.ts';

export interface Row {
  readonly what: string;
  readonly unit: string;
  readonly ours: number;
  readonly peer: number;
  readonly peerName: string;
  /** The least that is accepted, as ours to peer. */
  readonly least: number;
}

export type Subject = (options: { readonly seconds: number; readonly rounds: number }) => Promise<Row[]>;

/** A realistic event: 400 bytes of JSON. */
export const EVENT = JSON.stringify({
  service_name: 'checkout-api',
  vendor: 'kubernetes',
  entity: 'checkout-api-7d4f9c-2xk8p',
  event_type: 'deploy',
  old_value: 'registry.example/checkout:v41',
  new_value: 'registry.example/checkout:v42',
  actor: 'deploy-pipeline',
  sha: '8a1cb4a02d3538e54907c827352f66f20c3d7b0d',
  confidence: 0.95,
  ttl_seconds: 60,
  timestamp: '2026-08-22T10:10:02.125Z',
  raw_line: 'Sync operation to 8a1cb4a02d35 succeeded',
});

/** POST /v1/events in `write` mode with pipelining, against a bare handler. */
const ingest: Subject = async ({ seconds, rounds }) => {
  const [ours, bare] = await Promise.all([startForeshock(['--durability', 'write']), startBare()]);
  try {
    const load = (url: string): Load => ({
      url: `${url}/v1/events`,
      connections: 64,
      pipelining: 10,
      seconds,
      headers: { authorization: `Bearer ${ours.ingestKey}`, 'content-type': 'application/json' },
      body: EVENT,
    });
    const figures = { ours: [] as number[], bare: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      figures.bare.push(await run(load(bare.url)));
      figures.ours.push(await run(load(ours.url)));
    }
    return [
      {
        what: 'POST /v1/events, write mode, autocannon -p 10',
        unit: 'requests/s',
        ours: median(figures.ours),
        peer: median(figures.bare),
        peerName: 'bare uWebSockets.js',
        least: 0.4,
      },
    ];
  } finally {
    await Promise.all([ours.stop(), bare.stop()]);
  }
};

export const SUBJECTS: ReadonlyMap<string, Subject> = new Map([['ingest', ingest]]);

function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
