/**
 * Loaded into a server before its own code, with `--import`: looks, every millisecond, at when it last looked,
 * and tells whoever started the server when asked. Time in which the main thread was ready to run and the
 * machine ran somebody else's process is counted apart (Linux's schedstat), and so is what the event loop slept with
 * nothing to do (libuv's idle time), where a virtual machine that stood still woke it late: neither is anything the
 * server did. What the server waited for otherwise, a disk for one, is its own stall.
 *
 * It costs about half a percent of a core, and only between `start` and `read`.
 */
import { openSync, readSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import type { ProbeAnswer, ProbeRequest } from './probe.ts';

// A worker inherits what its process was started with, but has nobody to answer.
if (isMainThread && process.send !== undefined) {
  const schedstat = openSync('/proc/self/schedstat', 'r');
  const text = Buffer.alloc(64);
  /** How long the main thread has waited for a processor, milliseconds. */
  const waitedMs = () =>
    Number(text.toString('latin1', 0, readSync(schedstat, text, 0, 64, 0)).split(' ')[1]) / 1e6;

  /** How long the event loop has slept until something came. */
  const sleptMs = () => performance.nodeTiming.idleTime;

  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };

  let timer: NodeJS.Timeout | undefined;
  let longestMs = 0;
  let longestWithWaitsMs = 0;
  let longestCpuMs = 0;
  const start = () => {
    longestMs = 0;
    longestWithWaitsMs = 0;
    longestCpuMs = 0;
    let lookedMs = performance.now();
    let lookedWaitedMs = waitedMs();
    let lookedSleptMs = sleptMs();
    let lookedCpuMs = cpuMs();
    timer = setInterval(() => {
      const nowMs = performance.now();
      const nowWaitedMs = waitedMs();
      const nowSleptMs = sleptMs();
      const nowCpuMs = cpuMs();
      const gapMs = nowMs - lookedMs;
      const elsewhereMs = nowWaitedMs - lookedWaitedMs + (nowSleptMs - lookedSleptMs);
      longestWithWaitsMs = Math.max(longestWithWaitsMs, gapMs);
      longestMs = Math.max(longestMs, gapMs - elsewhereMs);
      longestCpuMs = Math.max(longestCpuMs, nowCpuMs - lookedCpuMs);
      lookedMs = nowMs;
      lookedWaitedMs = nowWaitedMs;
      lookedSleptMs = nowSleptMs;
      lookedCpuMs = nowCpuMs;
    }, 1);
  };

  process.on('message', (request: ProbeRequest) => {
    if (request === 'start') start();
    else clearInterval(timer);
    const answer: ProbeAnswer = { longestMs, longestWithWaitsMs, longestCpuMs };
    process.send?.(answer);
  });
  // A server that is told to stop ends when nothing is left to do; listening to us is nothing.
  process.channel?.unref();
}
