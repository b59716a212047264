/** POST /v1/events, against a bare handler that reads the same body and stores nothing. */
import { EVENT } from '../event.ts';
import { autocannonLoad } from '../load/autocannon.ts';
import { eventLoad } from '../load/load.ts';
import { WRK_MISSING } from '../load/wrk.ts';
import { duel } from '../measure/duel.ts';
import { startBare } from '../peers/bare.ts';
import type { Peer } from '../peers/peer.ts';
import type { Row } from '../report/row.ts';
import { type Foreshock, startForeshock } from '../servers/foreshock.ts';
import type { Findings, Scope } from '../subject.ts';
import { ROUNDS, SECONDS, throughputRow, wrkDuel } from './against.ts';

const PEER = 'bare uWebSockets.js';
const WRITE = { what: 'POST /v1/events, write', peerName: PEER, least: 0.55, aim: 0.7 };
const FSYNC = { what: 'POST /v1/events, fsync', peerName: PEER, least: 0.4, aim: 0.55 };
const CONNECTIONS = 64;
const PIPELINING = 10;
/** A group that shares a sync holds at most one request of each. */
const FSYNC_CONNECTIONS = 256;

export async function ingest(scope: Scope): Promise<Findings> {
  const ours = scope.add(await startForeshock(['--durability', 'write']));
  const bare = scope.add(await startBare());
  const rows: Row[] = [];
  const skipped = [];
  if (WRK_MISSING === undefined) {
    rows.push(...(await wrkDuel(WRITE, ours, bare, eventLoad(ours, EVENT, CONNECTIONS, SECONDS))));
  } else skipped.push(WRK_MISSING);
  rows.push(await pipelined(ours, bare));
  return { rows, skipped };
}

export async function fsync(scope: Scope): Promise<Findings> {
  if (WRK_MISSING !== undefined) return { rows: [], skipped: [WRK_MISSING] };
  const ours = scope.add(await startForeshock(['--durability', 'fsync']));
  const bare = scope.add(await startBare());
  return { rows: await wrkDuel(FSYNC, ours, bare, eventLoad(ours, EVENT, FSYNC_CONNECTIONS, SECONDS)) };
}

async function pipelined(ours: Foreshock, bare: Peer): Promise<Row> {
  const load = eventLoad(ours, EVENT, CONNECTIONS, SECONDS);
  const figures = await duel(
    {
      bare: { pid: bare.pid, run: () => autocannonLoad({ ...load, port: bare.port }, PIPELINING) },
      ours: { pid: ours.pid, run: () => autocannonLoad(load, PIPELINING) },
    },
    ROUNDS,
  );
  const how = `autocannon -c ${CONNECTIONS} -p ${PIPELINING}`;
  return throughputRow(WRITE, how, figures.ours, figures.bare);
}
