/** Environment variables that look like ours and are not: nobody reads them, and nobody says so. */
import type { Command } from 'commander';
import { closestMatch } from 'leven';

/** A sentence for each variable that is near to one that a command reads. */
export function misspelledVariables(command: Command, environment: NodeJS.ProcessEnv): readonly string[] {
  const known = variablesOf(rootOf(command));
  return Object.keys(environment)
    .filter((name) => name.startsWith('FORESHOCK_') && !known.includes(name))
    .map((name) => ({ name, nearest: closestMatch(name, known, { maxDistance: 3 }) }))
    .filter(({ nearest }) => nearest !== undefined)
    .map(({ name, nearest }) => `the variable ${name} is not read; did you mean ${nearest}?`);
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}

function variablesOf(command: Command): string[] {
  const own = command.options.flatMap(({ envVar }) => (envVar === undefined ? [] : [envVar]));
  return [...own, ...command.commands.flatMap(variablesOf)];
}
