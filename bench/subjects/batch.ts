/** POST /v1/events/batch: how many events one core takes. */
import { EVENT } from '../event.ts';
import { eventLoad } from '../load/load.ts';
import { WRK_MISSING, wrkLoad } from '../load/wrk.ts';
import { duel } from '../measure/duel.ts';
import type { FigureRow } from '../report/row.ts';
import { startForeshock } from '../servers/foreshock.ts';
import type { Findings, Scope } from '../subject.ts';
import { ROUNDS, SECONDS } from './against.ts';
import { takesBatches } from './takes-batches.ts';

const EVENTS = 1000;
const CONNECTIONS = 8;

export async function batch(scope: Scope): Promise<Findings> {
  if (WRK_MISSING !== undefined) return { rows: [], skipped: [WRK_MISSING] };
  const server = scope.add(await startForeshock());
  if (!(await takesBatches(server))) {
    return { rows: [], skipped: ['POST /v1/events/batch is answered 404: this version has no batches'] };
  }
  const body = Array.from({ length: EVENTS }, () => EVENT).join('\n');
  const single = eventLoad(server, body, CONNECTIONS, SECONDS);
  const headers = { ...single.headers, 'content-type': 'application/x-ndjson' };
  const load = { ...single, paths: ['/v1/events/batch'] as const, headers };
  const { ours } = await duel({ ours: { pid: server.pid, run: () => wrkLoad(load) } }, ROUNDS);
  const row = (how: string, perSecond: number): FigureRow => ({
    type: 'figure',
    better: 'higher',
    what: `POST /v1/events/batch, ${EVENTS} events each: ${how}`,
    unit: 'events/s',
    ours: perSecond,
    least: 300_000,
    aim: 600_000,
  });
  return {
    rows: [
      row('in a second of CPU time', EVENTS / (ours.cpuMicros / 1e6)),
      row(`wrk -c ${CONNECTIONS}`, ours.perSecond * EVENTS),
    ],
  };
}
