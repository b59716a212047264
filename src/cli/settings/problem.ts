/** Settings that the server cannot be started with: a sentence for each thing that is wrong. */
export class SettingsRefused extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'SettingsRefused';
    this.problems = problems;
  }
}
