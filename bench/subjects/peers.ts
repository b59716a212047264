/** POST /v1/events in `write` mode, against servers that a user might have instead. */
import { EVENT } from '../event.ts';
import { eventLoad } from '../load/load.ts';
import { WRK_MISSING, wrkLoad } from '../load/wrk.ts';
import { Duel } from '../measure/duel.ts';
import { ALERTMANAGER_MISSING, alertBody, startAlertmanager } from '../peers/alertmanager.ts';
import { startFastify } from '../peers/fastify.ts';
import type { Peer } from '../peers/peer.ts';
import { REDIS_MISSING, startRedis, xaddLoad } from '../peers/redis.ts';
import { startForeshock } from '../servers/foreshock.ts';
import type { Findings, Scope } from '../subject.ts';
import { costRow, inSpells, ROUNDS_OF_SPELL, SECONDS, throughputRow, wrkDuel, wrkRows } from './against.ts';

const WHAT = 'POST /v1/events, write';
const CONNECTIONS = 64;
/** redis-benchmark counts requests, not seconds: about as long as the others take. */
const XADDS = 200_000;

export async function fastify(scope: Scope): Promise<Findings> {
  if (WRK_MISSING !== undefined) return { rows: [], skipped: [WRK_MISSING] };
  const figures = await wrkDuel(scope, async (servers) => {
    const ours = servers.add(await startForeshock());
    const peer = servers.add(await startFastify());
    return { ours, peer, load: eventLoad(ours, EVENT, CONNECTIONS, SECONDS) };
  });
  const against = { what: WHAT, peerName: 'Fastify, stores nothing', least: 1.4, aim: 1.8 };
  return { rows: wrkRows(against, CONNECTIONS, figures) };
}

export async function alertmanager(scope: Scope): Promise<Findings> {
  const missing = WRK_MISSING ?? ALERTMANAGER_MISSING;
  if (missing !== undefined) return { rows: [], skipped: [missing] };
  const duel = new Duel<'peer' | 'onOneCore' | 'ours'>();
  await inSpells(scope, async (servers) => {
    const ours = servers.add(await startForeshock());
    const peer = servers.add(await startAlertmanager());
    const onOneCore = servers.add(await startAlertmanager({ cores: 1 }));
    const load = eventLoad(ours, EVENT, CONNECTIONS, SECONDS);
    const alert = { ...load, paths: ['/api/v2/alerts'] as const, body: alertBody(EVENT.length) };
    const on = ({ pid, port }: Peer) => ({ pid, run: () => wrkLoad({ ...alert, port }) });
    const contenders = {
      peer: on(peer),
      onOneCore: on(onOneCore),
      ours: { pid: ours.pid, run: () => wrkLoad(load) },
    };
    await duel.fight(contenders, ROUNDS_OF_SPELL);
  });
  const { figures } = duel;
  const against = { what: WHAT, peerName: 'Alertmanager, an alert a POST', least: 3, aim: 4 };
  const how = `wrk -c ${CONNECTIONS}, a core each`;
  const throughput = throughputRow(against, how, figures.ours, figures.onOneCore);
  const onAllCores = Math.round(figures.peer.perSecond).toLocaleString('en');
  const rows = [
    costRow(against, figures.ours, figures.peer),
    { ...throughput, note: `Alertmanager on all cores: ${onAllCores}` },
  ];
  return { rows };
}

export async function redis(scope: Scope): Promise<Findings> {
  const missing = WRK_MISSING ?? REDIS_MISSING;
  if (missing !== undefined) return { rows: [], skipped: [missing] };
  const duel = new Duel<'redis' | 'ours'>();
  await inSpells(scope, async (servers) => {
    const ours = servers.add(await startForeshock());
    const peer = servers.add(await startRedis());
    const xadds = { event: EVENT, connections: CONNECTIONS, requests: XADDS };
    const load = eventLoad(ours, EVENT, CONNECTIONS, SECONDS);
    const contenders = {
      redis: { pid: peer.pid, run: () => xaddLoad(peer, xadds) },
      ours: { pid: ours.pid, run: () => wrkLoad(load) },
    };
    await duel.fight(contenders, ROUNDS_OF_SPELL);
  });
  const { figures } = duel;
  const against = { what: WHAT, peerName: 'Redis XADD', least: 0.5, aim: 0.7 };
  return {
    rows: [
      costRow(against, figures.ours, figures.redis),
      throughputRow(against, `wrk / redis-benchmark -c ${CONNECTIONS}`, figures.ours, figures.redis),
    ],
  };
}
