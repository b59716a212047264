/**
 * Lines that say one thing each. The first row that applies counts.
 *
 * `state` is the SQLSTATE (PostgreSQL documentation, appendix A). Where the format has it, it must be equal: text
 * is in the server's language, and a client can RAISE any text. A row with `alone` then applies whatever the text
 * says. Where the format has none (the text log), the text must match. Rows with `from` are taken from that process
 * only. `ignored` rows keep a line from the rows below them.
 */
import type { LogEntry } from './entry.ts';
import type { Finding, Kind } from './kinds.ts';
import { quotedIn } from './quoted.ts';
import { actorOf, isFromServer } from './sessions.ts';

type Groups = Readonly<Record<string, string | undefined>>;
type Words = string | ((entry: LogEntry, groups: Groups) => string);

interface Rule {
  readonly state: string | RegExp;
  readonly text: RegExp;
  readonly alone?: boolean;
  readonly from?: 'server' | 'walreceiver';
  readonly kind: Kind | 'ignored';
  readonly entity?: Words;
  /** Default the first line of the message. */
  readonly newValue?: Words;
  /** Whether the session that wrote the line had a part in it, and was not just the one that was refused. */
  readonly acting?: boolean;
  readonly sameAs?: Words;
}

const SUCCESS = '00000';
/** For rows that go by the SQLSTATE: a text of any language. */
const ANY_LANGUAGE = /(?!)/;

// biome-ignore format: a table, each row what it looks for and what it says
const RULES: readonly Rule[] = [
  // 53300 too_many_connections. PostgreSQL 16 reworded the third, hosted servers name roles of their own in it.
  { state: '53300', text: /^sorry, too many clients already/,
    kind: 'too-many-clients', entity: 'connections' },
  { state: '53300', text: /^too many connections for (?<what>role|database) "(?<name>[^"]+)"/,
    kind: 'connection-limit', entity: (_, { what, name }) => `${what} ${name}` },
  { state: '53300', text: /^remaining connection slots are reserved for|^number of requested standby connections exceeds/, alone: true,
    kind: 'connection-slots', entity: 'connections' },
  { state: SUCCESS, text: /^could not fork new process for connection/, from: 'server',
    kind: 'no-process', entity: 'processes' },

  // 53100 disk_full; a quota comes as an internal error. Every table of a full disk complains: one report for all.
  { state: '53100', text: /^could not resize shared memory segment/,
    kind: 'disk-full', entity: '/dev/shm', acting: true },
  { state: '53100', text: /^could not extend file |: No space left on device/, alone: true,
    kind: 'disk-full', entity: fileIn, sameAs: volumeOf, acting: true },
  { state: /^(?:58...|XX000)$/, text: /: Disk quota exceeded/,
    kind: 'disk-full', entity: fileIn, sameAs: volumeOf, acting: true },

  // 53200 out_of_memory.
  { state: '53200', text: /^out of (?:shared )?memory/, alone: true,
    kind: 'out-of-memory', entity: ({ message }) => (/shared/i.test(message) ? 'shared memory' : 'memory'), acting: true },

  { state: SUCCESS, text: /^checkpoints are occurring too frequently \((?<gap>\d+ seconds? apart)\)/, from: 'server',
    kind: 'frequent-checkpoints', entity: 'checkpoints', newValue: (_, { gap }) => `${gap}` },
  { state: SUCCESS, text: /^temporary file: path "[^"]*", size (?<bytes>\d+)/,
    kind: 'temporary-file', entity: 'temporary files', newValue: (_, { bytes }) => `${bytes} bytes`, sameAs: actorName, acting: true },

  // 40P01 deadlock_detected. The LOG line "process … detected deadlock" before it has no row: one event, not two.
  { state: '40P01', text: /^deadlock detected/, alone: true,
    kind: 'deadlock', entity: 'locks', acting: true },
  // 55P03 lock_not_available. NOWAIT is a caller who would rather not wait.
  { state: '55P03', text: /^could not obtain lock on /,
    kind: 'ignored' },
  { state: '55P03', text: /^canceling statement due to lock timeout/, alone: true,
    kind: 'lock-timeout', entity: 'locks', acting: true },
  { state: SUCCESS, text: /^process \d+ still waiting for (?<lock>.{1,200}?) after (?<waited>[\d.]+ ms)/,
    kind: 'lock-wait', entity: 'locks', newValue: (_, { lock, waited }) => `waiting for ${lock} after ${waited}`, acting: true },
  // 57014 query_canceled: by a timeout, by a person, or by the server for its own reasons.
  { state: '57014', text: /^canceling statement due to statement timeout/,
    kind: 'statement-timeout', entity: 'statements', sameAs: actorName, acting: true },
  { state: '57014', text: /^canceling /,
    kind: 'ignored' },
  { state: '57014', text: ANY_LANGUAGE, alone: true,
    kind: 'statement-canceled', entity: 'statements', sameAs: actorName, acting: true },

  // The archiver tries three times, then warns, then waits a minute: one condition.
  { state: SUCCESS, text: /^archive command (?:failed with|was terminated by|exited with)/, from: 'server',
    kind: 'archive-failed', entity: 'archive_command' },
  { state: '01000', text: /^archiving write-ahead log file "[^"]*" failed too many times/, from: 'server',
    kind: 'archive-failed', entity: 'archive_command' },

  // Class 08, connection exceptions, as a standby sees them; then a primary that gives a standby up.
  { state: /^08...$/, text: /^could not (?:connect to the primary server|(?:receive data from|send data to) WAL stream|start WAL streaming)/, from: 'server',
    kind: 'replication-broken', entity: 'primary' },
  { state: /^08...$/, text: /^terminating walreceiver due to timeout/, from: 'server',
    kind: 'replication-broken', entity: 'primary' },
  { state: /^08...$/, text: ANY_LANGUAGE, alone: true, from: 'walreceiver',
    kind: 'replication-broken', entity: 'primary' },
  { state: SUCCESS, text: /^terminating walsender process due to replication timeout/,
    kind: 'replication-broken', entity: 'standby' },
];

/** What the line says by itself, or null where no row applies. */
export function findingIn(entry: LogEntry): Finding | null {
  const rule = RULES.find((row) => applies(row, entry));
  if (rule === undefined || rule.kind === 'ignored') return null;
  const groups = rule.text.exec(entry.message)?.groups ?? {};
  const say = (words: Words) => (typeof words === 'string' ? words : words(entry, groups));
  const actor = rule.acting ? actorOf(entry) : undefined;
  return {
    kind: rule.kind,
    entity: say(rule.entity ?? ''),
    newValue: say(rule.newValue ?? firstLine),
    ...(actor === undefined ? {} : { actor }),
    ...(rule.sameAs === undefined ? {} : { sameAs: say(rule.sameAs) }),
  };
}

function applies(rule: Rule, entry: LogEntry): boolean {
  if (rule.from === 'server' && !isFromServer(entry)) return false;
  if (rule.from === 'walreceiver' && entry.backendType !== 'walreceiver') return false;
  if (entry.sqlState === null) return rule.text.test(entry.message);
  const stateFits =
    typeof rule.state === 'string' ? rule.state === entry.sqlState : rule.state.test(entry.sqlState);
  return stateFits && (rule.alone === true || rule.text.test(entry.message));
}

function firstLine({ message }: LogEntry): string {
  return message.split('\n', 1)[0] ?? message;
}

function fileIn({ message }: LogEntry): string {
  return quotedIn(message) ?? 'disk';
}

/** The disk that a path relative to the data directory is likely on: its tablespace, or its top folder. */
function volumeOf(entry: LogEntry): string {
  return /^(?:pg_tblspc\/\d+|[^/]+)/.exec(fileIn(entry))?.[0] ?? 'disk';
}

function actorName(entry: LogEntry): string {
  return actorOf(entry) ?? '';
}
