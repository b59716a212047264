/**
 * An agent's run: register, read a log through a plugin, send what it finds. Reading and sending go on side by
 * side with a bounded buffer between them. While the server answers, a full buffer makes the reader wait: nothing
 * is lost, for the file keeps it. While it is away and the file is followed, the reader must go on, as the
 * file may be rotated away, and the oldest events make room for the newest, which matter more.
 */
import { hostname } from 'node:os';
import { DEFAULT_RETRY, type RetryPolicy } from '../client/retry.ts';
import type { Registration } from '../client/wire.ts';
import type { EventType } from '../domain/event.ts';
import { readLines } from './lines.ts';
import type { AgentEvent, Plugin } from './plugin.ts';
import { type AgentClient, Uplink } from './uplink.ts';

export interface AgentOptions {
  /** The log to read. */
  readonly file: string;
  /** OpenTelemetry `service.name` of the service whose log it is; not empty. */
  readonly serviceName: string;
  /** Whether to wait for more at the end of the file. Default false: the run ends when everything is sent. */
  readonly follow?: boolean;
  /** Where in the file to begin. Default `start`. */
  readonly from?: 'start' | 'end';
  /** Default the machine's. */
  readonly hostname?: string;
  /** Default: the server takes the hostname. */
  readonly name?: string;
  /** The agent's own version. */
  readonly version?: string;
  /** Default 30. */
  readonly heartbeatSeconds?: number;
  /** Events held while the server is away, beside those that are on their way to it. Default 1 000. */
  readonly maxBufferedEvents?: number;
  /** Events sent in one request. Default 1 000. */
  readonly maxBatchEvents?: number;
  /** How long an event waits for others to go with, milliseconds. Default 100. */
  readonly maxDelayMs?: number;
  /** How often a followed file is looked at. Default 250. */
  readonly pollMs?: number;
  /** Ends the run; what is unsent then is counted. */
  readonly signal?: AbortSignal;
}

export interface AgentDependencies<Memory> {
  readonly client: AgentClient;
  readonly plugin: Plugin<Memory>;
  readonly onReport?: (notice: AgentNotice) => void;
  /** How to wait while the server is away, on top of the client's own attempts. */
  readonly retry?: Partial<RetryPolicy>;
}

/** What the operator may want to see while it runs. */
export type AgentNotice =
  | { readonly type: 'registered'; readonly agentId: string }
  | { readonly type: 'found'; readonly event: AgentEvent }
  | { readonly type: 'sent'; readonly event: AgentEvent }
  | { readonly type: 'rejected'; readonly event: AgentEvent; readonly detail: string }
  | { readonly type: 'dropped'; readonly event: AgentEvent }
  | { readonly type: 'server-away'; readonly detail: string }
  | { readonly type: 'server-back' };

/** The run in numbers. Every event found was sent, rejected or dropped, or is unsent. */
export interface AgentReport {
  readonly linesRead: number;
  /** Events found. */
  readonly eventsByType: Readonly<Record<EventType, number>>;
  readonly sent: number;
  /** Refused by the server for what they say. */
  readonly rejected: number;
  /** Left for want of room while the server was away. */
  readonly dropped: number;
  /** Not known to have arrived when the signal was aborted. */
  readonly unsent: number;
}

/**
 * Runs an agent until its file is read and everything is sent or, following, until the signal is aborted. A server
 * that goes away is waited for; one that is away at the start is waited for only when following.
 *
 * @throws ForeshockError where the server refuses the agent (401: the key), or cannot be reached to begin with
 * @throws the file system's error where the file cannot be read
 */
export async function runAgent<Memory>(
  options: AgentOptions,
  dependencies: AgentDependencies<Memory>,
): Promise<AgentReport> {
  const { follow = false, heartbeatSeconds = 30 } = options;
  const { maxBufferedEvents = 1000, maxBatchEvents = 1000, maxDelayMs = 100 } = options;
  const { client, onReport = () => {} } = dependencies;
  const retry = { ...DEFAULT_RETRY, ...dependencies.retry };
  const counts: Counts = { linesRead: 0, eventsByType: noEvents(), sent: 0, rejected: 0, dropped: 0 };
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const uplink = new Uplink(
    {
      client,
      registration: registrationOf(options),
      heartbeatMs: heartbeatSeconds * 1000,
      maxBuffered: maxBufferedEvents,
      maxBatchEvents,
      maxDelayMs,
      mayDrop: follow,
      retry,
      signal,
    },
    {
      onRegistered: (agentId) => onReport({ type: 'registered', agentId }),
      onAccepted: (event) => {
        counts.sent++;
        onReport({ type: 'sent', event });
      },
      onRejected: (event, detail) => {
        counts.rejected++;
        onReport({ type: 'rejected', event, detail });
      },
      onDropped: (event) => {
        counts.dropped++;
        onReport({ type: 'dropped', event });
      },
      onAway: (detail) => onReport({ type: 'server-away', detail }),
      onBack: () => onReport({ type: 'server-back' }),
    },
  );
  const read = async () => {
    for await (const event of eventsIn(options, dependencies.plugin, counts, signal)) {
      onReport({ type: 'found', event });
      await uplink.add(event);
    }
    await uplink.finish();
  };

  await uplink.register({ patient: follow });
  const tasks = [read(), uplink.beat()];
  try {
    await Promise.race([...tasks, uplink.refusal]);
  } catch (error) {
    if (!options.signal?.aborted) throw error;
  } finally {
    stop.abort();
    await Promise.allSettled(tasks);
  }
  const found = Object.values(counts.eventsByType).reduce((sum, count) => sum + count, 0);
  return { ...counts, unsent: found - counts.sent - counts.rejected - counts.dropped };
}

interface Counts {
  linesRead: number;
  readonly eventsByType: Record<EventType, number>;
  sent: number;
  rejected: number;
  dropped: number;
}

/** Reads the file through the plugin, counting as it goes. */
async function* eventsIn<Memory>(
  { file, serviceName, follow = false, from = 'start', pollMs }: AgentOptions,
  plugin: Plugin<Memory>,
  counts: Counts,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, void, undefined> {
  let memory = plugin.initialMemory;
  const polling = pollMs === undefined ? {} : { pollMs };
  for await (const line of readLines(file, { follow, from, signal, ...polling })) {
    counts.linesRead++;
    const reading = plugin.read(memory, line, { serviceName });
    memory = reading.memory;
    if (reading.event === null) continue;
    counts.eventsByType[reading.event.event_type]++;
    yield reading.event;
  }
}

function registrationOf(options: AgentOptions): Registration {
  return {
    hostname: options.hostname ?? hostname(),
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.version === undefined ? {} : { version: options.version }),
  };
}

function noEvents(): Record<EventType, number> {
  return {
    deploy: 0,
    restart: 0,
    saturation: 0,
    flag_change: 0,
    circuit_open: 0,
    dependency_failure: 0,
  };
}
