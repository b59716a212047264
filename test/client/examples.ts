/** The programs of src/client/README.md, each with what it is shown to print. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export interface Example {
  /** Of its first line in the document. */
  readonly line: number;
  readonly program: string;
  readonly output: string;
}

const README = readFileSync(resolve(import.meta.dirname, '../../src/client/README.md'), 'utf8');

export const EXAMPLES: readonly Example[] = [
  ...README.matchAll(/```ts\n([\s\S]*?)```\n\n```\n([\s\S]*?)```/g),
].map(({ index, 1: program = '', 2: output = '' }) => ({
  line: README.slice(0, index).split('\n').length + 1,
  program,
  output,
}));

/** A program without an output, or an output without a program, is shown and not tried. */
export const PROGRAM_COUNT = README.split('```ts\n').length - 1;
