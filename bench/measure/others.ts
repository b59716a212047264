/** How much of the machine was taken by what is not ours: the noise in the figures. */
import { readFileSync } from 'node:fs';
import { familySeconds, ticksPerSecond } from './process-usage.ts';

/** Starts to watch; what it answers is in processors. */
export function watchOthers(): () => number {
  const startedMs = performance.now();
  const before = busySeconds() - familySeconds(process.pid);
  return () =>
    Math.max(
      0,
      (busySeconds() - familySeconds(process.pid) - before) / ((performance.now() - startedMs) / 1000),
    );
}

/** Of all processors; time that the hypervisor gave to others counts too. */
function busySeconds(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, steal = 0] =
    readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/ +/).slice(1).map(Number) ?? [];
  return (user + nice + system + irq + softIrq + steal) / ticksPerSecond;
}
