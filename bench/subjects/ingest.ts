/** POST /v1/events, against a bare handler that reads the same body and stores nothing. */
import { EVENT } from '../event.ts';
import { autocannonLoad } from '../load/autocannon.ts';
import { LoadClient } from '../load/client.ts';
import { eventLoad } from '../load/load.ts';
import { WRK_MISSING, wrkLoad } from '../load/wrk.ts';
import { type Answered, type Contender, Duel, type Figures } from '../measure/duel.ts';
import { startBare, startBareWriter } from '../peers/bare.ts';
import type { Peer } from '../peers/peer.ts';
import type { Row } from '../report/row.ts';
import { type Foreshock, startForeshock } from '../servers/foreshock.ts';
import type { Findings, Scope } from '../subject.ts';
import {
  costRow,
  inSpells,
  ROUNDS_AGAINST_BARE,
  ROUNDS_OF_SPELL,
  SECONDS,
  throughputRow,
  wrkDuel,
  wrkRows,
} from './against.ts';

const PEER = 'bare uWebSockets.js';
const WRITE = { what: 'POST /v1/events, write', peerName: PEER, least: 0.55, aim: 0.7 };
const FSYNC = { what: 'POST /v1/events, fsync', peerName: PEER, least: 0.4, aim: 0.55 };
/** As the event says. */
const LIFE = { type: 'ttl', seconds: 60 } as const;
const CONNECTIONS = 64;
const PIPELINING = 10;
/** autocannon is written in JavaScript, and takes a while until it is compiled. */
const AUTOCANNON_SECONDS = 2;
/** Of servers whose code is compiled by now. */
const WARM_ROUNDS_OF_SPELL = 2;
/** Well below what either can do. */
const EQUAL_RATE = 30_000;
/** A group that shares a sync holds at most one request of each. */
const FSYNC_CONNECTIONS = 256;

export async function ingest(scope: Scope): Promise<Findings> {
  const saturated = new Duel<'bare' | 'ours'>();
  const writing = new Duel<'writer'>();
  const atEqualRate = new Duel<'bare' | 'ours'>();
  const pipelined = new Duel<'bare' | 'ours'>();
  await inSpells(scope, async (servers) => {
    const ours = servers.add(await startForeshock(['--durability', 'write']));
    const bare = servers.add(await startBare());
    if (WRK_MISSING === undefined) {
      const load = eventLoad(ours, EVENT, CONNECTIONS, SECONDS);
      const on = under((port) => wrkLoad({ ...load, port }));
      await saturated.fight({ bare: on(bare), ours: on(ours) }, ROUNDS_AGAINST_BARE);
      // What the log would cost at the least, were it written so. By itself: what it has written goes to the disk in the turn
      // of whoever comes next.
      const writer = servers.add(await startBareWriter());
      await writing.fight({ writer: on(writer) }, ROUNDS_AGAINST_BARE);
    }
    const at = under(equalRate(servers.add(new LoadClient()), ours));
    await atEqualRate.fight({ bare: at(bare), ours: at(ours) }, WARM_ROUNDS_OF_SPELL);
    const load = eventLoad(ours, EVENT, CONNECTIONS, AUTOCANNON_SECONDS);
    const on = under((port) => autocannonLoad({ ...load, port }, PIPELINING));
    await pipelined.fight({ bare: on(bare), ours: on(ours) }, ROUNDS_OF_SPELL);
  });
  const what = `${WRITE.what}, ${EQUAL_RATE.toLocaleString('en')}/s to both`;
  const how = `autocannon -c ${CONNECTIONS} -p ${PIPELINING}`;
  return {
    rows: [
      ...(WRK_MISSING === undefined ? saturatedRows(saturated.figures, writing.figures) : []),
      costRow({ ...WRITE, what }, atEqualRate.figures.ours, atEqualRate.figures.bare),
      throughputRow(WRITE, how, pipelined.figures.ours, pipelined.figures.bare),
    ],
    skipped: WRK_MISSING === undefined ? [] : [WRK_MISSING],
  };
}

/** Any server under the same load. */
function under(load: (port: number) => Promise<Answered>) {
  return ({ pid, port }: Peer | Foreshock): Contender => ({ pid, run: () => load(port) });
}

function saturatedRows(
  { bare, ours }: Record<'bare' | 'ours', Figures>,
  { writer }: Record<'writer', Figures>,
): Row[] {
  const withWrite = (ratio: number) => `the bare handler with a write(2): ${ratio.toFixed(2)}×`;
  return [
    { ...costRow(WRITE, ours, bare), note: withWrite(bare.cpuMicros / writer.cpuMicros) },
    {
      ...throughputRow(WRITE, `wrk -c ${CONNECTIONS}`, ours, bare),
      note: withWrite(writer.perSecond / bare.perSecond),
    },
  ];
}

/**
 * At its limit a server keeps its client busy; below it, the client sleeps, and to wake it costs the server about
 * 1.3 µs an answer. Of two servers at their limits the slower one pays that, and the faster does not.
 */
function equalRate(client: LoadClient, { ingestKey }: Foreshock) {
  const traffic = { keys: [ingestKey], services: 1, life: LIFE, batch: 1 };
  const rate = {
    connections: CONNECTIONS,
    perSecond: EQUAL_RATE,
    seconds: SECONDS,
    overdue: 'sent',
  } as const;
  return async (port: number): Promise<Answered> => {
    const { requests } = await client.constantRate({ ...rate, port }, traffic);
    return { requests, perSecond: EQUAL_RATE };
  };
}

export async function fsync(scope: Scope): Promise<Findings> {
  if (WRK_MISSING !== undefined) return { rows: [], skipped: [WRK_MISSING] };
  const start = async (servers: Scope) => {
    const ours = servers.add(await startForeshock(['--durability', 'fsync']));
    const peer = servers.add(await startBare());
    return { ours, peer, load: eventLoad(ours, EVENT, FSYNC_CONNECTIONS, SECONDS) };
  };
  const figures = await wrkDuel(scope, start, ROUNDS_AGAINST_BARE);
  return { rows: wrkRows(FSYNC, FSYNC_CONNECTIONS, figures) };
}
