import { cpuSeconds } from './process-usage.ts';

const LOOK_MS = 500;
/** What a server with nothing to do takes of a core. */
const QUIET_SHARE = 0.05;
const QUIET_LOOKS = 4;
const DEADLINE_MS = 60_000;

/** Waits until a process has had nothing to do for two seconds; a minute at most. */
export async function whenQuiet(pid: number): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  let quiet = 0;
  let before = cpuSeconds(pid);
  while (quiet < QUIET_LOOKS && performance.now() < deadline) {
    await new Promise((done) => setTimeout(done, LOOK_MS));
    const after = cpuSeconds(pid);
    quiet = (after - before) * 1000 < LOOK_MS * QUIET_SHARE ? quiet + 1 : 0;
    before = after;
  }
}
