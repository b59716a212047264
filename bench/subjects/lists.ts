/** How long the event loop stands still when somebody lists 10 000 agents or services, with ingest going on. */
import { LoadClient } from '../load/client.ts';
import type { RateOptions } from '../load/constant-rate.ts';
import type { Traffic } from '../load/traffic.ts';
import type { ProbeAnswer } from '../measure/probe.ts';
import { whenQuiet } from '../measure/quiet.ts';
import type { Row } from '../report/row.ts';
import { type Foreshock, startForeshock, UNSHED } from '../servers/foreshock.ts';
import type { Findings, Scope } from '../subject.ts';
import { agentsOf } from './filled.ts';
import { stallRow } from './stall-row.ts';

const COUNT = 10_000;
const PER_SECOND = 10_000;
const WATCHED_SECONDS = 4;
const LISTINGS = 10;
const ROUNDS = 5;
/** Of every agent and every service, before anybody lists. */
const EVENTS_EACH = 10;

export async function lists(scope: Scope): Promise<Findings> {
  const server = scope.add(await startForeshock(UNSHED));
  const client = scope.add(new LoadClient());
  const traffic: Traffic = {
    keys: await agentsOf(client, server, COUNT),
    services: COUNT,
    life: { type: 'ttl', seconds: 3600 },
    batch: 1,
  };
  await client.send(server.port, EVENTS_EACH * COUNT, traffic);
  await whenQuiet(server.pid);

  const rate: RateOptions = {
    port: server.port,
    connections: 64,
    perSecond: PER_SECOND,
    seconds: WATCHED_SECONDS,
    overdue: 'put-off',
  };
  const ingest = () => client.constantRate(rate, traffic);
  const watch = (meanwhile: () => Promise<void>) =>
    server.probe.longestStall(() => Promise.all([ingest(), meanwhile()]));

  await ingest();
  const times = { without: [] as ProbeAnswer[], agents: [] as ProbeAnswer[], services: [] as ProbeAnswer[] };
  // In turns: a machine that is slow for a while is so for all of them.
  for (let round = 0; round < ROUNDS; round += 1) {
    times.without.push(await watch(async () => {}));
    times.agents.push(await watch(() => list(server, 'agents')));
    times.services.push(await watch(() => list(server, 'services')));
  }
  const row = (name: 'agents' | 'services'): Row => {
    const what = `${COUNT.toLocaleString('en')} ${name} are listed`;
    return stallRow(what, PER_SECOND, times[name], { name: 'nobody lists', times: times.without });
  };
  return { rows: [row('agents'), row('services')] };
}

/** A number of times, spread over the time that is watched. */
async function list({ port, readOnlyKey }: Foreshock, name: 'agents' | 'services'): Promise<void> {
  const headers = { authorization: `Bearer ${readOnlyKey}` };
  for (let n = 0; n < LISTINGS; n += 1) {
    await new Promise((done) => setTimeout(done, (WATCHED_SECONDS * 1000) / (2 * LISTINGS)));
    const answer = await fetch(`http://127.0.0.1:${port}/v1/${name}`, { headers });
    const listed = (await answer.json()) as unknown[];
    if (listed.length < COUNT) throw new Error(`${listed.length} ${name} were listed`);
  }
}
