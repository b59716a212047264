/** `foreshock backup` and `foreshock restore`: the same copy, one way and the other. */
import { Argument, Command } from 'commander';
import { claimDirectory } from '../admin/socket.ts';
import { type Copied, copyData } from '../commands/backup.ts';
import { nodeDisk } from '../lib/disk.ts';
import { withExamples } from './examples.ts';
import { print } from './output.ts';
import { progressBar } from './progress.ts';
import { addDataDirectory } from './settings/data-directory.ts';

interface Flags {
  readonly dataDir: string;
  readonly json?: boolean;
}

export function backupCommand(): Command {
  return withExamples(common('backup'), [
    'foreshock backup /backup/foreshock-$(date +%F) --data-dir /var/lib/foreshock',
  ])
    .description('copy the data directory to another, consistently, also while the server runs')
    .addArgument(new Argument('<directory>', 'where to: it must be empty or not there'))
    .action((directory: string, flags: Flags) => copy(flags.dataDir, directory, 'backed up', flags));
}

export function restoreCommand(): Command {
  return withExamples(common('restore'), [
    'foreshock restore /backup/foreshock-2026-11-20 --data-dir /var/lib/foreshock',
  ])
    .description('make a data directory of a backup')
    .addArgument(new Argument('<backup>', 'a directory that backup has made'))
    .action(async (backup: string, flags: Flags) => {
      await copy(backup, flags.dataDir, 'restored', flags);
      // Nobody else may have begun to use it meanwhile.
      const socket = await claimDirectory(flags.dataDir);
      await socket.release();
    });
}

function common(name: string): Command {
  return addDataDirectory(new Command(name)).option('--json', 'print one JSON object');
}

async function copy(from: string, to: string, done: string, { json = false }: Flags): Promise<void> {
  const bar = progressBar('copying');
  let copied: Copied;
  try {
    copied = await copyData({
      disk: nodeDisk,
      from,
      to,
      onProgress: bar.update,
    });
  } finally {
    bar.stop();
  }
  const { bytes, segments, commands, lastAtMs } = copied;
  const lastAt = lastAtMs === 0 ? null : new Date(lastAtMs).toISOString();
  if (json) return print(JSON.stringify({ bytes, segments, commands, last_command_at: lastAt }));
  const until = lastAt === null ? 'an empty log' : `everything up to ${lastAt}`;
  print(
    `${done}: ${until}, ${bytes} bytes in ${segments} segments and their checkpoints, read back and whole`,
  );
}
