/** Every command there is. `main.ts` runs it; the reference and the tests of the help are made from it. */
import { Command } from 'commander';
import { withoutSecrets } from '../lib/redaction.ts';
import { keysCommand, tenantsCommand } from './admin.ts';
import { agentCommand } from './agent.ts';
import { backupCommand, restoreCommand } from './backup.ts';
import { configCommand } from './config.ts';
import { withExamples } from './examples.ts';
import { logCommand } from './log.ts';
import { serveCommand } from './serve.ts';

export function foreshockProgram(version: string): Command {
  const program = withExamples(
    new Command('foreshock').description('What changed just before the alert.').version(version),
    ['foreshock serve', 'run the server; the first start prints two keys'],
    ['foreshock agent --help', 'watch a log and send what it says'],
    ['foreshock log verify --data-dir /var/lib/foreshock', 'is the data whole?'],
  )
    .addCommand(serveCommand())
    .addCommand(keysCommand())
    .addCommand(tenantsCommand())
    .addCommand(logCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(configCommand())
    .addCommand(agentCommand(version));
  for (const command of everyCommand(program)) {
    // What was mistyped is quoted, and may be a URL with a password in it.
    command.configureOutput({ outputError: (text, write) => write(withoutSecrets(text)) });
    command.exitOverride().showHelpAfterError('(see --help)').allowExcessArguments(false);
  }
  return program;
}

/** A command, and all below it. */
export function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}
