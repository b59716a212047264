/**
 * What a process has used, from Linux's /proc: of any process, so that peers are measured as we are, and
 * without a question to the process that is being measured.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** CPU time of all its threads, in the kernel and out of it; in steps of 10 ms. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Its name, in parentheses, may hold anything: what is counted stands behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
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
