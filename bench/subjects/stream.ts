/** GET /v1/stream: what it costs those who report that others look on, and what those cost who look on and see nothing. */
import { EVENT } from '../event.ts';
import { eventLoad } from '../load/load.ts';
import { lookedOn, openReaders } from '../load/readers.ts';
import { WRK_MISSING, wrkLoad } from '../load/wrk.ts';
import { duel } from '../measure/duel.ts';
import { cpuSeconds, residentMemory } from '../measure/process-usage.ts';
import { whenQuiet } from '../measure/quiet.ts';
import type { Row } from '../report/row.ts';
import { startForeshock } from '../servers/foreshock.ts';
import type { Findings, Scope } from '../subject.ts';
import { costRow, throughputRow } from './against.ts';

const READERS = 100;
const CONNECTIONS = 64;
const SECONDS = 3;
/** Many: what is looked for is a tenth, and of five the best came to 0.79 and, minutes later, to 1.03. */
const ROUNDS = 11;
const AGAINST = {
  what: `POST /v1/events, write, ${READERS} readers of the stream`,
  peerName: 'nobody reads',
  least: 0.9,
  aim: 0.95,
};

const IDLE_STREAMS = 5000;
/** Two rounds of heartbeats. */
const IDLE_SECONDS = 30;

export async function stream(scope: Scope): Promise<Findings> {
  const idle = await idleRows(scope);
  if (WRK_MISSING !== undefined) return { rows: idle, skipped: [WRK_MISSING] };
  const server = scope.add(await startForeshock());
  const load = eventLoad(server, EVENT, CONNECTIONS, SECONDS);
  const figures = await duel(
    {
      alone: { pid: server.pid, run: () => wrkLoad(load) },
      read: { pid: server.pid, run: () => lookedOn(server, READERS, () => wrkLoad(load)) },
    },
    ROUNDS,
  );
  return {
    rows: [
      costRow(AGAINST, figures.read, figures.alone),
      throughputRow(AGAINST, `wrk -c ${CONNECTIONS}`, figures.read, figures.alone),
      ...idle,
    ],
  };
}

async function idleRows(scope: Scope): Promise<readonly Row[]> {
  const most = String(IDLE_STREAMS);
  const server = scope.add(await startForeshock(['--max-streams', most, '--max-streams-tenant', most]));
  await whenQuiet(server.pid);
  const used = async () => {
    const before = cpuSeconds(server.pid);
    await new Promise((done) => setTimeout(done, IDLE_SECONDS * 1000));
    return cpuSeconds(server.pid) - before;
  };
  const emptySeconds = await used();
  const emptyBytes = residentMemory(server.pid).nowBytes;
  const readers = scope.add(await openReaders(server, IDLE_STREAMS));
  await whenQuiet(server.pid);
  const seconds = await used();
  const { nowBytes } = residentMemory(server.pid);
  await readers.stop();
  const each = (sum: number) => sum / IDLE_STREAMS;
  return [
    {
      type: 'figure',
      better: 'lower',
      what: `resident memory an idle stream, of ${IDLE_STREAMS.toLocaleString('en')}`,
      unit: 'B',
      ours: each(nowBytes - emptyBytes),
      least: 8192,
      aim: 4096,
    },
    {
      type: 'figure',
      better: 'lower',
      what: `an idle stream in ${IDLE_SECONDS} s, two heartbeats`,
      unit: 'µs CPU',
      ours: each(seconds - emptySeconds) * 1e6,
      note: `${((100 * seconds) / IDLE_SECONDS).toFixed(1)} % of a core for all of them; ${((100 * emptySeconds) / IDLE_SECONDS).toFixed(1)} % without`,
      least: 150,
      aim: 50,
    },
  ];
}
