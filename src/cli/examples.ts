/** Examples at the end of a command's help: what most who ask for it came for. */
import type { Command } from 'commander';

/** What to type, and what it is for, where that is not plain. */
export type Example = readonly [line: string, purpose?: string];

/** @returns the command it was given */
export function withExamples(command: Command, ...examples: readonly Example[]): Command {
  const width = Math.max(...examples.map(([line]) => line.length));
  const lines = examples.map(([line, purpose]) =>
    purpose === undefined ? `  ${line}` : `  ${line.padEnd(width)}  # ${purpose}`,
  );
  const title = examples.length === 1 ? 'Example' : 'Examples';
  return command.addHelpText('after', `\n${title}:\n${lines.join('\n')}\n`);
}
