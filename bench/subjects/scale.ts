/** What an ingest costs as there are more services, and more agents. */
import { LoadClient } from '../load/client.ts';
import type { Life, Traffic } from '../load/traffic.ts';
import { duel, type Figures } from '../measure/duel.ts';
import { median } from '../measure/median.ts';
import { whenQuiet } from '../measure/quiet.ts';
import type { Row } from '../report/row.ts';
import { startForeshock, UNSHED } from '../servers/foreshock.ts';
import { type Findings, Scope } from '../subject.ts';
import { agentsOf } from './filled.ts';

const FEW_SERVICES = 10;
const MANY_SERVICES = 100_000;
const MANY_AGENTS = 50_000;
/** Few live events in every case, and no window at its bound: services and agents alone are to differ. */
const LIFE: Life = { type: 'ttl', seconds: 2 };
const UNBOUNDED = [...UNSHED, '--window-max-events', '10000000', '--window-max-bytes', String(1024 ** 3)];

/** Where the memory of a process comes to lie makes a fifth of what is in no cache: three of each, and the middle one. */
const STARTS = 3;
const ROUNDS = 2;
const SECONDS = 3;

export async function scale(scope: Scope): Promise<Findings> {
  const client = scope.add(new LoadClient());
  const starts: Costs[] = [];
  for (let start = 0; start < STARTS; start += 1) starts.push(await costsOnFreshServers(client));
  const costOf = (name: keyof Costs) => median(starts.map((costs) => costs[name].cpuMicros));
  const row = (what: string, cpuMicros: number): Row => ({
    type: 'growth',
    what: `cost of an ingest with ${what}`,
    unit: 'µs CPU',
    ours: cpuMicros,
    peer: { name: `${FEW_SERVICES} services, 1 agent`, figure: costOf('few') },
    least: 1.5,
    aim: 1.2,
  });
  return {
    rows: [
      row(`${MANY_SERVICES.toLocaleString('en')} services`, costOf('services')),
      row(`${MANY_AGENTS.toLocaleString('en')} agents`, costOf('agents')),
    ],
  };
}

type Costs = Readonly<Record<'few' | 'services' | 'agents', Figures>>;

async function costsOnFreshServers(client: LoadClient): Promise<Costs> {
  const servers = new Scope();
  try {
    const prepared = async (services: number, agents: number) => {
      const server = servers.add(await startForeshock(UNBOUNDED));
      const keys = agents === 1 ? [server.ingestKey] : await agentsOf(client, server, agents);
      const traffic: Traffic = { keys, services, life: LIFE, batch: 1 };
      // The same for all, so that the code of all has been compiled when it counts.
      await client.send(server.port, MANY_SERVICES, traffic);
      await whenQuiet(server.pid);
      return { pid: server.pid, run: () => client.flood(server.port, SECONDS, traffic) };
    };
    return await duel(
      {
        few: await prepared(FEW_SERVICES, 1),
        services: await prepared(MANY_SERVICES, 1),
        agents: await prepared(FEW_SERVICES, MANY_AGENTS),
      },
      ROUNDS,
    );
  } finally {
    await servers.close();
  }
}
