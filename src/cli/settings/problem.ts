import type { Command } from 'commander';

/** Settings that the server cannot be started with: a sentence for each thing that is wrong. */
export class SettingsRefused extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'SettingsRefused';
    this.problems = problems;
  }
}

/** Runs a step of a command; where settings are refused, the command ends as wrongly used. */
export function refusedAsUsage<T>(command: Command, step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error;
    return command.error(error.problems.map((each) => `error: ${each}`).join('\n'));
  }
}
