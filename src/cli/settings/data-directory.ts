/** The one setting of the server that the commands beside it must know: where everything is. */
import type { Command } from 'commander';
import { DEFAULTS } from '../../config.ts';
import { option } from '../options.ts';
import { readConfigFile, readTexts } from './file.ts';
import { refusedAsUsage } from './problem.ts';

/** `--data-dir`, its variable, and the file that the server was given. */
export function addDataDirectory(command: Command): Command {
  return command
    .addOption(
      option('--data-dir <directory>', "the server's data directory").default(DEFAULTS.dataDirectory),
    )
    .addOption(option('--config <file>', "the server's file of settings, which may name it"))
    .hook('preAction', (_, called) => takeFromFile(called));
}

function takeFromFile(command: Command): void {
  const { config } = command.opts<{ readonly config?: string }>();
  if (config === undefined || command.getOptionValueSource('dataDir') !== 'default') return;
  const inFile = refusedAsUsage(command, () => readConfigFile(config)).get('dataDirectory');
  if (inFile === undefined) return;
  command.setOptionValueWithSource('dataDir', readTexts('dataDirectory', inFile.texts), 'config');
}
