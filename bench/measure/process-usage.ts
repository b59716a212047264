/**
 * What a process has used, from Linux's /proc: of any process, so that peers are measured as we are, and
 * without a question to the process that is being measured.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** CPU time of all its threads, in the kernel and out of it; in steps of 10 ms. */
export function cpuSeconds(pid: number): number {
  return ticksIn(statOf(String(pid)).slice(11, 13)) / ticksPerSecond;
}

/** Of a process and all it has started, those that run and those that have ended. */
export function familySeconds(pid: number): number {
  const children = new Map<string, Process[]>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const process = processOf(name);
    if (process === undefined) continue;
    const siblings = children.get(process.parent);
    if (siblings === undefined) children.set(process.parent, [process]);
    else siblings.push(process);
  }
  const ticks = ({ pid, ticks: own }: Process): number =>
    (children.get(pid) ?? []).reduce((sum, child) => sum + ticks(child), own);
  const family = processOf(String(pid));
  return family === undefined ? 0 : ticks(family) / ticksPerSecond;
}

interface Process {
  readonly pid: string;
  readonly parent: string;
  /** Its own, and those of its children that have ended. */
  readonly ticks: number;
}

/** Undefined where there is no such process any more. */
function processOf(pid: string): Process | undefined {
  try {
    const stat = statOf(pid);
    return { pid, parent: stat[1] ?? '', ticks: ticksIn(stat.slice(11, 15)) };
  } catch {
    return undefined;
  }
}

/** What stands in /proc/PID/stat behind the name, which is in parentheses and may hold anything. */
function statOf(pid: string): readonly string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function ticksIn(fields: readonly string[]): number {
  return fields.reduce((sum, each) => sum + Number(each), 0);
}

export interface Resident {
  readonly nowBytes: number;
  /** The most there ever was. */
  readonly peakBytes: number;
}

export function residentMemory(pid: number): Resident {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
  return { nowBytes: bytes('VmRSS'), peakBytes: bytes('VmHWM') };
}
