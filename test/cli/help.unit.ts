/** What every command says of itself. The tree is walked, so that no command can come without. */
import type { Command } from 'commander';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { everyCommand, foreshockProgram } from '../../src/cli/program.ts';
import { helpOf, nameOf } from '../support/help.ts';

const commands = everyCommand(foreshockProgram('1.0.0')).map((command) => ({
  name: nameOf(command),
  command,
}));

/** As a shell would give them to the program. */
function examplesOf(command: Command): string[][] {
  const [, text = ''] = /\nExamples?:\n((?: {2}.*\n)+)/.exec(helpOf(command)) ?? [];
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const plain = line
        .replace(/ +# .*/, '')
        .replace(/ [|>].*/, '')
        .replaceAll(/\$\(.*?\)/g, 'x')
        .trim();
      const [, variables = '', words = ''] = /^((?:[A-Z_]+=\S+ )*)foreshock ?(.*)$/.exec(plain) ?? [];
      for (const [, name = '', value = ''] of variables.matchAll(/(\S+)=(\S+)/g)) vi.stubEnv(name, value);
      return words.split(' ');
    });
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe.each(commands)('$name', ({ command }) => {
  it('says what it does, and each of its flags and arguments too', () => {
    const { options, registeredArguments } = command;
    for (const { description } of [command, ...options, ...registeredArguments]) {
      expect(typeof description === 'function' ? command.description() : description).toMatch(/\w{2,}/);
    }
  });

  it('shows an example, and examples that can be typed', () => {
    const examples = examplesOf(command);
    expect(examples).not.toEqual([]);
    for (const words of examples) expect([words, parse(words)]).toEqual([words, '']);
  });

  it('suggests the flag that was meant', () => {
    const [words = []] = examplesOf(command);
    if (command.commands.length > 0)
      return expect(parse([...words.slice(0, 1), '--hlep'])).toContain('--help');
    const flag = command.options.map(({ long }) => long ?? '').find((long) => long.length > 6) ?? '--help';
    expect(parse([...words, `${flag.slice(0, -2)}${flag.at(-1)}`])).toContain(`Did you mean ${flag}?`);
  });

  it('suggests the command that was meant', () => {
    const [below] = command.commands;
    if (below === undefined) return;
    const path = nameOf(command).split(' ').slice(1);
    const typed = `${below.name()}${below.name().at(-1)}`;
    expect(parse([...path, typed])).toContain(`Did you mean ${below.name()}?`);
  });
});

/** Reads a command line without carrying it out. @returns what is wrong with it */
function parse(words: readonly string[]): string {
  const program = foreshockProgram('1.0.0');
  let said = '';
  for (const command of everyCommand(program)) {
    if (command.commands.length === 0) command.action(() => {});
    command.configureOutput({
      writeErr: (text) => {
        said += text;
      },
      writeOut: () => {},
    });
  }
  try {
    program.parse([...words], { from: 'user' });
  } catch {
    // Said, where it was wrong.
  }
  return said;
}
