/** `foreshock log …`: looking at the log of a data directory, and mending it. */
import { Command } from 'commander';
import { claimDirectory } from '../admin/socket.ts';
import { checkpointDirectory, holdsData, logDirectory } from '../commands/load.ts';
import type { Command as LogCommand } from '../domain/command.ts';
import { publicFields } from '../domain/event.ts';
import { nodeDisk } from '../lib/disk.ts';
import { decodeCommand } from '../log/command-codec.ts';
import { type InspectOptions, planRepair, repair, type Verdict, verify } from '../log/inspect.ts';
import type { LoggedRecord } from '../log/replay.ts';
import { withExamples } from './examples.ts';
import { print, printError } from './output.ts';
import { progressBar } from './progress.ts';
import { addDataDirectory } from './settings/data-directory.ts';

interface LogFlags {
  readonly dataDir: string;
  readonly json?: boolean;
}

export function logCommand(): Command {
  const log = withExamples(
    new Command('log').description('look at the log of a data directory, and mend it'),
    ['foreshock log verify --data-dir /var/lib/foreshock', 'is it whole?'],
    ['foreshock log audit --service orders-db', 'what was reported, with the lines it was read from'],
  );
  log
    .addCommand(
      withExamples(common('verify'), ['foreshock log verify --data-dir /var/lib/foreshock'])
        .description('read all of it and say whether it is whole; changes nothing')
        .option('--json', 'print one JSON object')
        .action((flags: LogFlags) => verifyLog(flags)),
    )
    .addCommand(
      withExamples(
        common('repair'),
        ['foreshock log repair', 'say what it would cost'],
        ['foreshock log repair --yes', 'do it'],
      )
        .description('make a damaged log readable again, after saying what that costs')
        .option('--yes', 'do it; without, only say what would be done')
        .addHelpText('after', '\nWhat is cut off is kept beside the log, in files that end in .broken.\n')
        .action((flags: LogFlags & { yes?: boolean }) => repairLog(flags)),
    )
    .addCommand(
      withExamples(common('stat'), ['foreshock log stat --data-dir /var/lib/foreshock'])
        .description('say what is in it')
        .option('--json', 'print one JSON object')
        .action((flags: LogFlags) => stat(flags)),
    )
    .addCommand(
      withExamples(common('export'), ['foreshock log export | head'])
        .description('print every command as JSON, one a line, without secrets and raw lines')
        .action((flags: LogFlags) => each(flags, (record) => print(JSON.stringify(exported(record))))),
    )
    .addCommand(
      withExamples(common('audit'), ['foreshock log audit --service orders-db | grep deadlock'])
        .description('print every event as JSON, one a line, with the log line it was read from')
        .option('--service <name>', 'only of this service')
        .action(async (flags: LogFlags & { service?: string }) => {
          let found = 0;
          await each(flags, (record) => {
            found += audit(record, flags.service);
          });
          if (found === 0)
            printError(`there are no events${flags.service === undefined ? '' : ' of this service'}`);
        }),
    );
  return log;
}

function common(name: string): Command {
  return addDataDirectory(new Command(name));
}

/** @throws where the directory holds no log */
function optionsOf({ dataDir }: LogFlags, title: string): InspectOptions & { done: () => void } {
  demandLog(dataDir);
  const bar = progressBar(title);
  return {
    disk: nodeDisk,
    logDirectory: logDirectory(dataDir),
    checkpointDirectory: checkpointDirectory(dataDir),
    onProgress: bar.update,
    done: bar.stop,
  };
}

async function verifyLog(flags: LogFlags): Promise<void> {
  const options = optionsOf(flags, 'verifying');
  const verdict = await verify(options);
  options.done();
  if (flags.json === true) return printVerdict(verdict);
  for (const { name, problem } of verdict.checkpoints) print(problem ?? `${name}: good`);
  report(flags, verdict);
}

function printVerdict({ commands, end, checkpoints, tornTail, damage }: Verdict, more: object = {}): void {
  const shown = {
    whole: damage === undefined,
    commands,
    last_record: end?.lastStamp.sequence ?? 0,
    torn_tail: tornTail ?? null,
    damage: damage ?? null,
    checkpoints: checkpoints.map(({ name, problem }) => ({ name, problem: problem ?? null })),
  };
  print(JSON.stringify({ ...shown, ...more }));
  if (damage !== undefined) process.exitCode = 1;
}

function report({ dataDir }: LogFlags, { commands, end, tornTail, damage }: Verdict): void {
  if (damage !== undefined) {
    printError(`foreshock: ${damage.message}`);
    printError(`${commands} commands before it are good; see what a repair would cost:`);
    printError(`  foreshock log repair --data-dir ${dataDir}`);
    process.exitCode = 1;
    return;
  }
  if (tornTail !== undefined) print(`${tornTail}: an unfinished write, which the next start cuts off`);
  print(`the log is whole: ${commands} commands, the last is record ${end?.lastStamp.sequence ?? 0}`);
}

async function repairLog(flags: LogFlags & { yes?: boolean }): Promise<void> {
  const socket = await claimDirectory(flags.dataDir);
  try {
    const options = optionsOf(flags, 'reading');
    const plan = await planRepair(options);
    options.done();
    if (plan === undefined) {
      print('there is nothing to repair');
      return;
    }
    print(plan.damage.message);
    print(`the log would end there: ${plan.damage.segment}, byte ${plan.cutAt}`);
    print(`${plan.lostCommands} commands that can still be read behind it would be given up`);
    for (const name of plan.setAside) print(`${name} would be set aside`);
    if (flags.yes !== true) {
      print('nothing has been changed; run it again with --yes to do it');
      process.exitCode = 1;
      return;
    }
    for (const sentence of repair(options, plan)) print(sentence);
    print('the log is readable to its end');
  } finally {
    await socket.release();
  }
}

async function stat(flags: LogFlags): Promise<void> {
  const counts = new Map<string, number>();
  let first: LoggedRecord['stamp'] | undefined;
  const options = optionsOf(flags, 'reading');
  const verdict = await verify(options, (record) => {
    first ??= record.stamp;
    const { type } = decodeCommand(record.bytes, record.start, record.end);
    counts.set(type, (counts.get(type) ?? 0) + 1);
  });
  options.done();
  const { end, checkpoints } = verdict;
  const timeOf = (stamp: LoggedRecord['stamp'] | undefined) =>
    stamp === undefined ? null : new Date(stamp.atMs).toISOString();
  if (flags.json === true) {
    const times = { first_at: timeOf(first), last_at: timeOf(end?.lastStamp) };
    return printVerdict(verdict, { ...times, by_type: Object.fromEntries(counts) });
  }
  for (const [type, count] of [...counts].sort(([, a], [, b]) => b - a))
    print(`${String(count).padStart(12)}  ${type}`);
  if (first !== undefined) print(`first  ${timeOf(first)}  record ${first.sequence}`);
  if (end !== undefined) print(`last   ${timeOf(end.lastStamp)}  record ${end.lastStamp.sequence}`);
  if (end !== undefined) print(`the last segment is ${end.ordinal}, ${end.lengthBytes} bytes long`);
  for (const { name, problem } of checkpoints) print(problem ?? name);
  report(flags, verdict);
}

/** A mistyped directory is no empty log. */
function demandLog(directory: string): void {
  if (holdsData(nodeDisk, directory)) return;
  throw new Error(`${directory} holds no data of Foreshock; give its --data-dir`);
}

async function each(flags: LogFlags, visit: (record: LoggedRecord) => void): Promise<void> {
  const options = { ...optionsOf(flags, 'reading'), onProgress: () => {} };
  const { damage } = await verify(options, visit);
  options.done();
  if (damage === undefined) return;
  printError(`foreshock: ${damage.message}`);
  process.exitCode = 1;
}

const REDACTED = '[redacted]';

function exported(record: LoggedRecord): object {
  const { sequence, atMs } = record.stamp;
  return { sequence, at: new Date(atMs).toISOString(), ...withoutSecrets(commandOf(record)) };
}

function withoutSecrets(command: LogCommand): object {
  switch (command.type) {
    case 'record-events':
      return { ...command, events: command.events.map(({ rawLine: _, ...event }) => event) };
    case 'create-keys':
      return { ...command, keys: command.keys.map(({ hash: _, ...key }) => key) };
    case 'create-integration':
    case 'rotate-token':
      return { ...command, token: REDACTED };
    case 'configure-integration':
      return { ...command, configJson: REDACTED };
    default:
      return command;
  }
}

/** @returns how many events it printed */
function audit(record: LoggedRecord, service: string | undefined): number {
  const command = commandOf(record);
  if (command.type !== 'record-events') return 0;
  let printed = 0;
  const { sequence, atMs } = record.stamp;
  for (const event of command.events) {
    if (service !== undefined && event.serviceName !== service) continue;
    printed += 1;
    const { tenantId: tenant_id, agentId: agent_id } = command;
    print(
      JSON.stringify({
        sequence,
        received_at: new Date(atMs).toISOString(),
        tenant_id,
        agent_id,
        ...publicFields(event),
        timestamp: event.timestampMs === null ? null : new Date(event.timestampMs).toISOString(),
        raw_line: event.rawLine,
      }),
    );
  }
  return printed;
}

function commandOf({ bytes, start, end }: LoggedRecord): LogCommand {
  return decodeCommand(bytes, start, end);
}
