/** What the process and its event loop use. Names without our prefix are those that every dashboard knows. */
import type { EventLoopMeter } from '../lib/event-loop.ts';
import type { Family } from './exposition.ts';

export function processFamilies(
  version: string,
  nowMs: number,
  eventLoop: EventLoopMeter,
): readonly Family[] {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const { medianSeconds, p99Seconds, longestSeconds } = eventLoop.delay();
  const single = (type: 'gauge' | 'counter', name: string, help: string, value: number): Family => ({
    type,
    name,
    help,
    samples: [{ value }],
  });
  return [
    {
      type: 'gauge',
      name: 'foreshock_build_info',
      help: 'Always 1; what runs is in the labels.',
      samples: [{ labels: { version, node: process.version }, value: 1 }],
    },
    single(
      'gauge',
      'process_start_time_seconds',
      'When the process began, seconds since the epoch.',
      nowMs / 1000 - process.uptime(),
    ),
    single('counter', 'process_cpu_seconds_total', 'CPU time used.', (user + system) / 1e6),
    single('gauge', 'process_resident_memory_bytes', 'Memory of the process.', rss),
    single('gauge', 'nodejs_heap_size_used_bytes', 'JavaScript heap in use.', heapUsed),
    single('gauge', 'nodejs_heap_size_total_bytes', 'JavaScript heap taken from the system.', heapTotal),
    single(
      'gauge',
      'nodejs_external_memory_bytes',
      'Memory outside the JavaScript heap: live events.',
      external,
    ),
    single(
      'counter',
      'foreshock_event_loop_active_seconds_total',
      'Time in which the event loop had work; its rate is its utilisation.',
      eventLoop.activeSeconds(),
    ),
    {
      type: 'gauge',
      name: 'foreshock_event_loop_delay_seconds',
      help: 'How late the event loop came to what was due, since the last scrape.',
      samples: [
        { labels: { statistic: 'median' }, value: medianSeconds },
        { labels: { statistic: 'p99' }, value: p99Seconds },
        { labels: { statistic: 'max' }, value: longestSeconds },
      ],
    },
  ];
}
