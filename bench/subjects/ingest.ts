/** POST /v1/events, against a bare handler that reads the same body and stores nothing. */
import { EVENT } from '../event.ts';
import { autocannonLoad } from '../load/autocannon.ts';
import { LoadClient } from '../load/client.ts';
import { eventLoad } from '../load/load.ts';
import { WRK_MISSING, wrkLoad } from '../load/wrk.ts';
import { Duel } from '../measure/duel.ts';
import { startBare, startBareWriter } from '../peers/bare.ts';
import type { Peer } from '../peers/peer.ts';
import type { Row } from '../report/row.ts';
import { type Foreshock, startForeshock } from '../servers/foreshock.ts';
import type { Findings, Scope } from '../subject.ts';
import { costRow, inSpells, ROUNDS_OF_SPELL, SECONDS, throughputRow, wrkDuel } from './against.ts';

const PEER = 'bare uWebSockets.js';
const WRITE = { what: 'POST /v1/events, write', peerName: PEER, least: 0.55, aim: 0.7 };
const FSYNC = { what: 'POST /v1/events, fsync', peerName: PEER, least: 0.4, aim: 0.55 };
/** As the event says. */
const LIFE = { type: 'ttl', seconds: 60 } as const;
const CONNECTIONS = 64;
const PIPELINING = 10;
/** autocannon is written in JavaScript, and takes a while until it is compiled. */
const AUTOCANNON_SECONDS = 2;
const AUTOCANNON_ROUNDS_OF_SPELL = 2;
/** Well below what either can do. */
const EQUAL_RATE = 30_000;
/** A group that shares a sync holds at most one request of each. */
const FSYNC_CONNECTIONS = 256;

/** Something that is measured a few rounds at a time. */
interface Part {
  spell(): Promise<void>;
  rows(): readonly Row[];
}

export async function ingest(scope: Scope): Promise<Findings> {
  const ours = scope.add(await startForeshock(['--durability', 'write']));
  const bare = scope.add(await startBare());
  const parts = [
    ...(WRK_MISSING === undefined ? [await saturated(scope, ours, bare)] : []),
    atEqualRate(scope, ours, bare),
    pipelined(ours, bare),
  ];
  await inSpells(scope, async () => {
    for (const part of parts) await part.spell();
  });
  return {
    rows: parts.flatMap((part) => part.rows()),
    skipped: WRK_MISSING === undefined ? [] : [WRK_MISSING],
  };
}

/** Beside the two, the bare handler with one write(2) a request: what the log would cost at the least, were it written so. */
async function saturated(scope: Scope, ours: Foreshock, bare: Peer): Promise<Part> {
  const writer = scope.add(await startBareWriter());
  const load = eventLoad(ours, EVENT, CONNECTIONS, SECONDS);
  const on = ({ pid, port }: Peer | Foreshock) => ({ pid, run: () => wrkLoad({ ...load, port }) });
  const duel = new Duel({ bare: on(bare), writer: on(writer), ours: on(ours) });
  const withWrite = (ratio: number) => `the bare handler with a write(2): ${ratio.toFixed(2)}×`;
  return {
    spell: () => duel.fight(ROUNDS_OF_SPELL),
    rows: () => {
      const { figures } = duel;
      const cost = costRow(WRITE, figures.ours, figures.bare);
      const throughput = throughputRow(WRITE, `wrk -c ${CONNECTIONS}`, figures.ours, figures.bare);
      return [
        { ...cost, note: withWrite(figures.bare.cpuMicros / figures.writer.cpuMicros) },
        { ...throughput, note: withWrite(figures.writer.perSecond / figures.bare.perSecond) },
      ];
    },
  };
}

/**
 * At its limit a server keeps its client busy; below it, the client sleeps, and to wake it costs the server about
 * 1.3 µs an answer. Of two servers at their limits the slower one pays that, and the faster does not.
 */
function atEqualRate(scope: Scope, ours: Foreshock, bare: Peer): Part {
  const client = scope.add(new LoadClient());
  const traffic = { keys: [ours.ingestKey], services: 1, life: LIFE, batch: 1 };
  const rate = {
    connections: CONNECTIONS,
    perSecond: EQUAL_RATE,
    seconds: SECONDS,
    overdue: 'sent',
  } as const;
  const on = ({ pid, port }: Peer | Foreshock) => ({
    pid,
    run: async () => {
      const { requests } = await client.constantRate({ ...rate, port }, traffic);
      return { requests, perSecond: EQUAL_RATE };
    },
  });
  const duel = new Duel({ bare: on(bare), ours: on(ours) });
  const what = `${WRITE.what}, ${EQUAL_RATE.toLocaleString('en')}/s to both`;
  return {
    spell: () => duel.fight(ROUNDS_OF_SPELL),
    rows: () => [costRow({ ...WRITE, what }, duel.figures.ours, duel.figures.bare)],
  };
}

export async function fsync(scope: Scope): Promise<Findings> {
  if (WRK_MISSING !== undefined) return { rows: [], skipped: [WRK_MISSING] };
  const ours = scope.add(await startForeshock(['--durability', 'fsync']));
  const bare = scope.add(await startBare());
  const load = eventLoad(ours, EVENT, FSYNC_CONNECTIONS, SECONDS);
  return { rows: await wrkDuel(scope, FSYNC, ours, bare, load) };
}

function pipelined(ours: Foreshock, bare: Peer): Part {
  const load = eventLoad(ours, EVENT, CONNECTIONS, AUTOCANNON_SECONDS);
  const on = ({ pid, port }: Peer | Foreshock) => ({
    pid,
    run: () => autocannonLoad({ ...load, port }, PIPELINING),
  });
  const duel = new Duel({ bare: on(bare), ours: on(ours) });
  const how = `autocannon -c ${CONNECTIONS} -p ${PIPELINING}`;
  return {
    spell: () => duel.fight(AUTOCANNON_ROUNDS_OF_SPELL),
    rows: () => [throughputRow(WRITE, how, duel.figures.ours, duel.figures.bare)],
  };
}
