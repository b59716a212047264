#!/usr/bin/env node
/**
 * The command line. Exit codes: 0 done, 1 failed (the reason is on standard error), 2 wrong usage.
 */
import { Command, CommanderError } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { keysCommand, tenantsCommand } from './cli/admin.ts';
import { agentCommand } from './cli/agent.ts';
import { backupCommand, restoreCommand } from './cli/backup.ts';
import { logCommand } from './cli/log.ts';
import { endQuietlyWithoutReader, printError } from './cli/output.ts';
import { serveCommand } from './cli/serve.ts';
import { withoutSecrets } from './lib/redaction.ts';
import { LogDamaged } from './log/errors.ts';

const program = new Command('foreshock')
  .description('What changed just before the alert.')
  .version(manifest.version)
  .addCommand(serveCommand())
  .addCommand(keysCommand())
  .addCommand(tenantsCommand())
  .addCommand(logCommand())
  .addCommand(backupCommand())
  .addCommand(restoreCommand())
  .addCommand(agentCommand(manifest.version));

endQuietlyWithoutReader();

const everyCommand = (command: Command): Command[] => [command, ...command.commands.flatMap(everyCommand)];
for (const command of everyCommand(program)) {
  // What was mistyped is quoted, and may be a URL with a password in it.
  command.configureOutput({ outputError: (text, write) => write(withoutSecrets(text)) });
  command.exitOverride().showHelpAfterError('(see --help)').allowExcessArguments(false);
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has said what is wrong, or printed the help that was asked for.
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    printError(`foreshock: ${error instanceof Error ? error.message : String(error)}`);
    if (error instanceof LogDamaged) printError('see what a repair would cost: foreshock log repair');
    process.exitCode = 1;
  }
}
