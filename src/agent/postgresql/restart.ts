/**
 * A restart is a dozen lines; a person needs two events: it went down, and it is ready again. What the server was
 * last known to be is remembered, and a line is an event only where it changes that.
 *
 *   planned    received fast shutdown request … shut down … starting … ready
 *                ready → shutting down (fast)                shut down → ready
 *   crash      terminated by signal 9 … reinitializing … interrupted … ready
 *                ready → crashed: …                          crashed → ready
 *   no word    (power, OOM killer) starting … interrupted … ready
 *                → interrupted; last known up at …           interrupted → ready
 *   promotion  received promote request … ready
 *                                                            ready (read-only) → ready
 */
import type { LogEntry } from './entry.ts';
import type { Finding } from './kinds.ts';
import { isFromServer } from './sessions.ts';

/** What the server was last known to be, in the words that events use. */
export interface ServerState {
  readonly state:
    | 'unknown'
    | 'ready'
    | 'ready (read-only)'
    | 'shutting down'
    | 'shut down'
    | 'crashed'
    | 'interrupted';
  /** Log time at which it last went down with an event. */
  readonly downAtMs: number;
}

export const UNKNOWN_STATE: ServerState = { state: 'unknown', downAtMs: 0 };

const ENTITY = 'database system';

/** A server that cannot recover dies at every try; it is said again this often, milliseconds. */
const CRASH_LOOP_MS = 10 * 60_000;

const SIGNS = [
  ['stopping', /^received (?<mode>smart|fast|immediate) shutdown request/],
  ['stopped', /^database system is shut down$|^abnormal database system shutdown$/],
  // Archiver and log collector come back by themselves; a worker's exit code 1 is how it ends in a shutdown.
  [
    'died',
    /^(?<process>(?!archiver|system logger).{1,100}?) \(PID (?<pid>\d+)\) (?<end>was terminated by .{1,100})/,
  ],
  [
    'died',
    /^(?<process>server process|client backend) \(PID (?<pid>\d+)\) (?<end>exited with exit code \d+)/,
  ],
  ['died', /^(?<process>startup process) \(PID (?<pid>\d+)\) (?<end>exited with exit code \d+)/],
  ['reinitializing', /^all server processes terminated; reinitializing/],
  ['starting', /^starting PostgreSQL /],
  ['was stopped', /^database system was shut down /],
  [
    'was interrupted',
    /^database system (?<how>was interrupted|shutdown was interrupted)(?<since>[\s\S]{0,200})/,
  ],
  ['ready read-only', /^database system is ready to accept read.only connections/],
  ['ready', /^database system is ready to accept connections/],
] as const;

interface Step {
  readonly server: ServerState;
  readonly finding: Finding | null;
}

/** What a line of the server's own makes of what it was known to be. */
export function readRestart(server: ServerState, entry: LogEntry): Step {
  const unchanged = { server, finding: null };
  // The server's life is told at LOG; where the level is in another language so is the text.
  if (entry.severity !== 'LOG' || !isFromServer(entry)) return unchanged;
  const [sign, text] = SIGNS.find(([, pattern]) => pattern.test(entry.message)) ?? [];
  if (sign === undefined) return unchanged;
  const groups: Readonly<Record<string, string | undefined>> = text?.exec(entry.message)?.groups ?? {};
  const wasUp =
    server.state === 'unknown' || server.state === 'ready' || server.state === 'ready (read-only)';
  const down = (state: ServerState['state'], newValue: string = state): Step => ({
    server: { state, downAtMs: entry.clockMs },
    finding: change(server, newValue),
  });
  const become = (state: ServerState['state']): Step => ({ server: { ...server, state }, finding: null });

  switch (sign) {
    case 'stopping':
      return wasUp ? down('shutting down', `shutting down (${groups['mode']})`) : become('shutting down');
    case 'stopped':
      if (wasUp) return down('shut down');
      return server.state === 'shutting down' ? become('shut down') : unchanged;
    case 'died': {
      const looping = server.state === 'crashed' || server.state === 'interrupted';
      const isNews = wasUp || (looping && Math.abs(entry.clockMs - server.downAtMs) >= CRASH_LOOP_MS);
      const newValue = `crashed: ${groups['process']} ${groups['pid']} ${groups['end']}`;
      return isNews ? down('crashed', newValue) : unchanged;
    }
    case 'reinitializing':
      return wasUp ? down('crashed') : unchanged;
    case 'starting':
      // It was up, and the line that says how it ended is missing: the next one tells.
      return wasUp ? become('unknown') : unchanged;
    case 'was stopped':
      return become('shut down');
    case 'was interrupted':
      return wasUp ? down('interrupted', `interrupted${groups['since'] ?? ''}`) : unchanged;
    case 'ready read-only':
      return up(server, 'ready (read-only)');
    case 'ready':
      return up(server, 'ready');
  }
}

function up(server: ServerState, state: 'ready' | 'ready (read-only)'): Step {
  if (server.state === state) return { server, finding: null };
  return { server: { ...server, state }, finding: change(server, state) };
}

function change({ state }: ServerState, newValue: string): Finding {
  return { kind: 'restart', entity: ENTITY, ...(state === 'unknown' ? {} : { oldValue: state }), newValue };
}
