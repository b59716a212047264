/** `foreshock keys …` and `foreshock tenants …`: ask the running server, or open the log where none runs. */
import { existsSync } from 'node:fs';
import { Argument, Command } from 'commander';
import { type AdminAnswer, type AdminRequest, administer, MAX_KEYS_AT_ONCE } from '../admin/operations.ts';
import { askServer, claimDirectory } from '../admin/socket.ts';
import { logDirectory } from '../commands/load.ts';
import { DEFAULTS } from '../config.ts';
import { KEY_KINDS, type KeyKind } from '../domain/key.ts';
import { openEngine } from '../engine.ts';
import { systemClock } from '../lib/clock.ts';
import { nodeDisk } from '../lib/disk.ts';
import { systemEntropy } from '../lib/entropy.ts';
import { eventLoop } from '../lib/scheduler.ts';
import { withExamples } from './examples.ts';
import { integer, option } from './options.ts';
import { printError, printRows } from './output.ts';
import { addDataDirectory } from './settings/data-directory.ts';

interface CommonFlags {
  readonly dataDir: string;
  readonly json?: boolean;
}

export function keysCommand(): Command {
  const keys = withExamples(
    new Command('keys').description('make, list and revoke API keys'),
    ['foreshock keys create --tenant default --kind ingest --name db-1', 'one for each agent'],
    ['foreshock keys list'],
  );
  keys
    .addCommand(
      withExamples(
        common('create'),
        ['foreshock keys create --tenant default --kind ingest --name db-1'],
        ['foreshock keys create --tenant default --kind ingest --count 50 --json', 'a fleet at once'],
      )
        .description('make keys; each is shown this once')
        .requiredOption('--tenant <name>', 'the tenant they belong to')
        .addOption(option('--kind <kind>', 'what they may do').choices(KEY_KINDS).makeOptionMandatory())
        .option('--name <name>', 'what to call them')
        .addOption(option('--count <number>', 'how many').default(1).argParser(integer(1, MAX_KEYS_AT_ONCE)))
        .action((flags: CommonFlags & { tenant: string; kind: KeyKind; name?: string; count: number }) => {
          const { tenant, kind, name = null, count } = flags;
          return run(flags, { operation: 'keys.create', tenant, kind, name, count });
        }),
    )
    .addCommand(
      withExamples(common('list'), ['foreshock keys list --tenant default'])
        .description('list keys, revoked ones too')
        .option('--tenant <name>', 'only of this tenant')
        .action((flags: CommonFlags & { tenant?: string }) =>
          run(flags, { operation: 'keys.list', tenant: flags.tenant ?? null }),
        ),
    )
    .addCommand(
      withExamples(common('revoke'), ['foreshock keys revoke 8e491dfc-7288-4bec-93e2-fb056272344f'])
        .description('make a key useless at once')
        .addArgument(new Argument('<id>', "the key's id, as keys list shows it"))
        .action((id: string, flags: CommonFlags) => run(flags, { operation: 'keys.revoke', id })),
    );
  return keys;
}

export function tenantsCommand(): Command {
  const tenants = withExamples(
    new Command('tenants').description('make and list tenants'),
    ['foreshock tenants create payments'],
    ['foreshock tenants list'],
  );
  tenants
    .addCommand(
      withExamples(common('create'), ['foreshock tenants create payments'])
        .description('make a tenant')
        .addArgument(new Argument('<name>', 'what it is called'))
        .action((name: string, flags: CommonFlags) => run(flags, { operation: 'tenants.create', name })),
    )
    .addCommand(
      withExamples(common('list'), ['foreshock tenants list --json'])
        .description('list tenants')
        .action((flags: CommonFlags) => run(flags, { operation: 'tenants.list' })),
    );
  return tenants;
}

function common(name: string): Command {
  return addDataDirectory(new Command(name)).option('--json', 'print one JSON object a line');
}

async function run(flags: CommonFlags, request: AdminRequest): Promise<void> {
  const answer = (await askServer(flags.dataDir, request)) ?? (await withoutServer(flags.dataDir, request));
  if (answer.type === 'refused') {
    printError(`foreshock: ${answer.reason}`);
    process.exitCode = 1;
    return;
  }
  printRows(answer.rows, flags.json === true);
}

async function withoutServer(directory: string, request: AdminRequest): Promise<AdminAnswer> {
  // What is opened here would be made anew: a mistyped directory must not become one.
  if (!existsSync(logDirectory(directory))) {
    return {
      type: 'refused',
      reason: `${directory} holds no data of Foreshock, and no server runs on it; give its --data-dir, or start it once`,
    };
  }
  const socket = await claimDirectory(directory);
  try {
    const engine = await openEngine({
      settings: { ...DEFAULTS, dataDirectory: directory },
      disk: nodeDisk,
      clock: systemClock,
      scheduler: eventLoop,
      entropy: systemEntropy,
      baseUrl: () => '',
      onFatal: (error) => {
        printError(`foreshock: ${error.message}`);
        process.exit(1);
      },
      onTrouble: () => {},
      onWriteTrouble: () => {},
    });
    try {
      const { state, pipeline } = engine;
      return await administer({ state, pipeline, entropy: systemEntropy }, request);
    } finally {
      await engine.close();
    }
  } finally {
    await socket.release();
  }
}
