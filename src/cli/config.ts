/** `foreshock config …`: what the server would be started with, and a file to begin with. */
import { Command } from 'commander';
import type { Settings } from '../config.ts';
import { withExamples } from './examples.ts';
import { print, printError, printRows } from './output.ts';
import { addSettings, type Effective, effectiveSettings } from './settings/effective.ts';
import { exampleFile } from './settings/example.ts';
import { type Findings, lookAtMachine } from './settings/machine.ts';
import { SettingsRefused } from './settings/problem.ts';
import { SETTINGS, settingKeys } from './settings/table.ts';
import { misspelledVariables } from './settings/variables.ts';

export function configCommand(): Command {
  const config = withExamples(
    new Command('config').description('check settings, or print a file of them to begin with'),
    ['foreshock config example > foreshock.yaml'],
    ['foreshock config check --config foreshock.yaml'],
  );
  config.addCommand(
    withExamples(addSettings(new Command('check')), ['foreshock config check --config /etc/foreshock.yaml'])
      .description('say what serve would be started with, where each setting comes from, and what is wrong')
      .option('--json', 'print one JSON object a line')
      .addHelpText(
        'after',
        '\nEnds with 0 where serve would start, with 1 where this machine would not let it, with 2 where the settings' +
          '\nare wrong. Nothing is changed, and a running server is not asked.',
      )
      .action((flags: { json?: boolean }, command: Command) => check(command, flags.json === true)),
  );
  config.addCommand(
    withExamples(new Command('example'), ['foreshock config example > foreshock.yaml'])
      .description('print a file of all settings, each with what it is for and its default')
      .action(() => print(exampleFile())),
  );
  return config;
}

function check(command: Command, asJson: boolean): void {
  let effective: Effective;
  try {
    effective = effectiveSettings(command);
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error;
    report({ problems: error.problems, warnings: [] }, asJson);
    process.exitCode = 2;
    return;
  }
  const { problems, warnings } = lookAtMachine(effective.settings);
  printRows(
    settingKeys().map((key) => row(effective, key)),
    asJson,
  );
  report({ problems, warnings: [...warnings, ...misspelledVariables(command, process.env)] }, asJson);
  if (problems.length > 0) process.exitCode = 1;
}

function row<K extends keyof Settings>({ settings, origins }: Effective, key: K) {
  const { name, type } = SETTINGS[key];
  const value = type.write(settings[key]);
  return { setting: name, value: value === '' ? null : value, origin: origins.get(key) ?? 'default' };
}

/** As JSON they stand among the settings, for whoever reads standard output alone. */
function report({ problems, warnings }: Findings, asJson: boolean): void {
  if (asJson) {
    for (const problem of problems) print(JSON.stringify({ problem }));
    for (const warning of warnings) print(JSON.stringify({ warning }));
    return;
  }
  for (const problem of problems) printError(`foreshock: ${problem}`);
  for (const warning of warnings) printError(`foreshock: warning: ${warning}`);
}
