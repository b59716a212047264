/** Ours against a peer: the rows that come of it. */
import type { Load } from '../load/load.ts';
import { wrkLoad } from '../load/wrk.ts';
import { Duel, type Figures } from '../measure/duel.ts';
import type { RatioRow } from '../report/row.ts';
import type { Scope } from '../subject.ts';

/**
 * How long and how often: the whole run is to take minutes. Short and often, since what neighbours of a virtual machine take
 * of its caches comes in spells of seconds, and a program that needs more of them loses more.
 */
export const SECONDS = 1;
export const ROUNDS = 10;
/** And some of the spells last for minutes: a duel goes on after all else was measured, twice. */
const SPELLS = 3;
export const ROUNDS_OF_SPELL = 4;

/** Does the work of a spell as often as there are some, and lets the other subjects go first in between. */
export async function inSpells(scope: Scope, spell: () => Promise<void>): Promise<void> {
  await spell();
  for (let more = 1; more < SPELLS; more += 1) {
    await scope.rest();
    await spell();
  }
}

export interface Against {
  readonly what: string;
  readonly peerName: string;
  readonly least: number;
  readonly aim: number;
}

interface Server {
  readonly port: number;
  readonly pid: number;
}

/** One load on both, by wrk; a peer that wants something else is sent `peerLoad`. */
export async function wrkDuel(
  scope: Scope,
  against: Against,
  ours: Server,
  peer: Server,
  load: Load,
  peerLoad: Load = load,
): Promise<RatioRow[]> {
  const duel = new Duel({
    peer: { pid: peer.pid, run: () => wrkLoad({ ...peerLoad, port: peer.port }) },
    ours: { pid: ours.pid, run: () => wrkLoad({ ...load, port: ours.port }) },
  });
  await inSpells(scope, () => duel.fight(ROUNDS_OF_SPELL));
  const { figures } = duel;
  return [
    costRow(against, figures.ours, figures.peer),
    throughputRow(against, `wrk -c ${load.connections}`, figures.ours, figures.peer),
  ];
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
