/** Ours against a peer: the rows that come of it. */
import type { Load } from '../load/load.ts';
import { wrkLoad } from '../load/wrk.ts';
import { Duel, type Figures } from '../measure/duel.ts';
import type { RatioRow } from '../report/row.ts';
import { Scope } from '../subject.ts';

/**
 * How long and how often: the whole run is to take minutes. Short and often, since what neighbours of a virtual machine take
 * of its caches comes in spells of seconds, and a program that needs more of them loses more.
 */
export const SECONDS = 1;
export const ROUNDS = 10;
/**
 * And some of the spells last for minutes, and where a process's memory comes to lie makes a difference too: a duel goes
 * on twice when all else was measured, each time with servers that are started anew. Two rounds go until code is compiled.
 */
const SPELLS = 3;
export const ROUNDS_OF_SPELL = 5;
/**
 * Against a handler that does nothing, which is at its best in nearly every round. Ours needs luck: its best of fifteen, under
 * the same load in four subjects of one run, came to 13.3, 14.0, 14.2 and 14.6 µs.
 */
export const ROUNDS_AGAINST_BARE = 10;

/** Does the work of a spell as often as there are some, and lets the other subjects go first in between. */
export async function inSpells(scope: Scope, spell: (servers: Scope) => Promise<void>): Promise<void> {
  for (let begun = 0; begun < SPELLS; begun += 1) {
    if (begun > 0) await scope.rest();
    const servers = new Scope();
    try {
      await spell(servers);
    } finally {
      await servers.close();
    }
  }
}

export interface Against {
  readonly what: string;
  readonly peerName: string;
  readonly least: number;
  readonly aim: number;
}

interface Opponents {
  readonly ours: Server;
  readonly peer: Server;
  readonly load: Load;
}

interface Server {
  readonly port: number;
  readonly pid: number;
}

/** One load on both, by wrk. */
export async function wrkDuel(
  scope: Scope,
  start: (servers: Scope) => Promise<Opponents>,
  rounds = ROUNDS_OF_SPELL,
): Promise<Record<'ours' | 'peer', Figures>> {
  const duel = new Duel<'ours' | 'peer'>();
  await inSpells(scope, async (servers) => {
    const { ours, peer, load } = await start(servers);
    const contenders = {
      peer: { pid: peer.pid, run: () => wrkLoad({ ...load, port: peer.port }) },
      ours: { pid: ours.pid, run: () => wrkLoad({ ...load, port: ours.port }) },
    };
    await duel.fight(contenders, rounds);
  });
  return duel.figures;
}

export function wrkRows(
  against: Against,
  connections: number,
  { ours, peer }: Record<'ours' | 'peer', Figures>,
): RatioRow[] {
  return [costRow(against, ours, peer), throughputRow(against, `wrk -c ${connections}`, ours, peer)];
}

export function costRow({ what, peerName, least, aim }: Against, ours: Figures, peer: Figures): RatioRow {
  return {
    type: 'speed',
    what: `${what}: cost of a request`,
    unit: 'µs CPU',
    ours: ours.cpuMicros,
    peer: { name: peerName, figure: peer.cpuMicros },
    least,
    aim,
  };
}

export function throughputRow(against: Against, load: string, ours: Figures, peer: Figures): RatioRow {
  const { what, peerName, least, aim } = against;
  return {
    type: 'speed',
    what: `${what}: ${load}`,
    unit: 'requests/s',
    ours: ours.perSecond,
    peer: { name: peerName, figure: peer.perSecond },
    least,
    aim,
  };
}
