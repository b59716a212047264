#!/usr/bin/env node
/**
 * The command line. Exit codes: 0 done, 1 failed (the reason is on standard error), 2 wrong usage.
 */
import { CommanderError } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { endQuietlyWithoutReader, printError } from './cli/output.ts';
import { foreshockProgram } from './cli/program.ts';
import { reasonOf } from './cli/reason.ts';
import { LogDamaged } from './log/errors.ts';

const program = foreshockProgram(manifest.version);

endQuietlyWithoutReader();

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has said what is wrong, or printed the help that was asked for.
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    printError(`foreshock: ${reasonOf(error)}`);
    if (error instanceof LogDamaged) {
      printError('see what a repair would cost: foreshock log repair (with the same --data-dir)');
    }
    process.exitCode = 1;
  }
}
