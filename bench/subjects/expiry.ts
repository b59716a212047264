/** How long the event loop stands still when a million events expire at once, with ingest going on. */
import { LoadClient } from '../load/client.ts';
import type { RateOptions } from '../load/constant-rate.ts';
import { whenQuiet } from '../measure/quiet.ts';
import { startForeshock, UNSHED } from '../servers/foreshock.ts';
import type { Findings, Scope } from '../subject.ts';
import { agentsOf, fillerOf } from './filled.ts';
import { stallRow, thrice } from './stall-row.ts';

const EVENTS = 1_000_000;
const SERVICES = 1000;
const AGENTS = 100;
const PER_SECOND = 10_000;
/** Ingest goes on from before until well after. */
const AHEAD_MS = 2000;
const WATCHED_SECONDS = 6;
/** From the first event to the expiry of all: filling must be done by then, and a checkpoint that came of it. */
const FILL_MS = 25_000;
/** Once more with so much where it was not: a disk that stands still for a while shall not cost the figure. */
const FILL_LONGER_MS = 3 * FILL_MS;

export async function expiry(scope: Scope): Promise<Findings> {
  const server = scope.add(await startForeshock(UNSHED));
  const client = scope.add(new LoadClient());
  const of = { keys: await agentsOf(client, server, AGENTS), services: SERVICES };
  const rate: RateOptions = {
    port: server.port,
    connections: 64,
    perSecond: PER_SECOND,
    seconds: WATCHED_SECONDS,
    overdue: 'put-off',
  };
  const ingest = () => client.constantRate(rate, { ...of, life: { type: 'ttl', seconds: 3600 }, batch: 1 });

  await ingest();
  const before = await thrice(() => server.probe.longestStall(ingest));
  const fill = await fillerOf(client, server, of);
  const fillFor = async (fillMs: number) => {
    const atMs = Date.now() + fillMs;
    await fill(EVENTS, { type: 'until', atMs });
    await whenQuiet(server.pid);
    return atMs - AHEAD_MS - Date.now();
  };
  const during = await thrice(async () => {
    let waitMs = await fillFor(FILL_MS);
    if (waitMs < 0) waitMs = await fillFor(FILL_LONGER_MS);
    if (waitMs < 0) throw new Error(`filling was over ${Math.round(-waitMs)} ms too late, twice`);
    await new Promise((done) => setTimeout(done, waitMs));
    return server.probe.longestStall(ingest);
  });
  const what = `${EVENTS.toLocaleString('en')} events expire within a second`;
  return { rows: [stallRow(what, PER_SECOND, during, { name: 'nothing expires', times: before })] };
}
