/**
 * Loaded into a server before its own code, with `--import`: samples how late the event loop is, every
 * millisecond, and tells whoever started the server when asked. It costs a timer a millisecond, about 0.2 % of
 * a core, and only between `start` and `read`.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import type { ProbeAnswer, ProbeRequest } from './probe.ts';

// A worker inherits what its process was started with, but has nobody to answer.
if (isMainThread && process.send !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  process.on('message', (request: ProbeRequest) => {
    if (request === 'start') {
      delay.reset();
      delay.enable();
    } else delay.disable();
    const answer: ProbeAnswer = { longestMs: delay.max / 1e6 };
    process.send?.(answer);
  });
  // A server that is told to stop ends when nothing is left to do; listening to us is nothing.
  process.channel?.unref();
}
