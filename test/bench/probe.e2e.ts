import { resolve } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { probeOf } from '../../bench/measure/probe.ts';
import { type ServerProcess, startProcess } from '../../bench/servers/process.ts';

const PROBE = resolve(import.meta.dirname, '../../bench/measure/probe-preload.ts');
const LONG_MS = 300;

let running: ServerProcess | undefined;
afterEach(async () => {
  await running?.stop();
});

/** A process with the probe, whose event loop does `work` when it gets SIGUSR2. */
async function probed(work: string) {
  running = await startProcess({
    command: process.execPath,
    args: [
      '--import',
      PROBE,
      '--eval',
      `process.on('SIGUSR2', () => { ${work} }); setInterval(() => {}, 10_000); console.log('ready');`,
    ],
    ready: (output) => output.includes('ready'),
    ipc: true,
  });
  return running;
}

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));

test('work that the event loop does at a stretch is a stall, and CPU time', async () => {
  const { child } = await probed(
    `const end = performance.now() + ${LONG_MS}; while (performance.now() < end);`,
  );
  const { longestMs, longestCpuMs } = await probeOf(child).longestStall(async () => {
    child.kill('SIGUSR2');
    await sleep(3 * LONG_MS);
  });
  expect(longestMs).toBeGreaterThan(LONG_MS / 2);
  expect(longestCpuMs).toBeGreaterThan(LONG_MS / 3);
});

test('what the event loop waits for in the middle of its work is a stall, and no CPU time', async () => {
  const { child } = await probed(`Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${LONG_MS});`);
  const { longestMs, longestCpuMs } = await probeOf(child).longestStall(async () => {
    child.kill('SIGUSR2');
    await sleep(3 * LONG_MS);
  });
  expect(longestMs).toBeGreaterThan(0.9 * LONG_MS);
  expect(longestCpuMs).toBeLessThan(LONG_MS / 2);
});

test('a process that nothing was to be done in, and that was woken late, has not stalled', async () => {
  const { child } = await probed('');
  const stalls: number[] = [];
  // Stopped three times: once it may happen to be looking, which is work.
  for (let stop = 0; stop < 3; stop += 1) {
    const { longestMs, longestWithWaitsMs } = await probeOf(child).longestStall(async () => {
      await sleep(50);
      child.kill('SIGSTOP');
      await sleep(LONG_MS);
      child.kill('SIGCONT');
      await sleep(50);
    });
    expect(longestWithWaitsMs).toBeGreaterThan(0.9 * LONG_MS);
    stalls.push(longestMs);
  }
  expect(Math.min(...stalls)).toBeLessThan(LONG_MS / 2);
});
