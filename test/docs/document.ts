/** Runs a document from its beginning to its end, as a reader would. */
import { spawnSync } from 'node:child_process';
import { parseAllDocuments } from 'yaml';
import { type Block, blocksOf, type Directive } from './markdown.ts';
import type { Shell } from './shell.ts';
import { missingLine } from './shown-output.ts';

export interface LeftOut {
  readonly line: number;
  readonly reason: string;
}

/** What of a document is not run, and why. */
export function leftOut(markdown: string): LeftOut[] {
  return blocksOf(markdown).flatMap(({ line, directives }) =>
    directives.flatMap((directive) =>
      directive.type === 'skip' || directive.type === 'skip-line' ? [{ line, reason: directive.reason }] : [],
    ),
  );
}

/** @throws at the first block that is not as the document has it, naming its line */
export async function runDocument(markdown: string, shell: Shell): Promise<void> {
  let printed = '';
  for (const block of blocksOf(markdown)) {
    try {
      printed = (await runBlock(block, shell, printed)) ?? printed;
    } catch (error) {
      throw new Error(`line ${block.line}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

const has = (block: Block, type: Directive['type']): boolean =>
  block.directives.some((directive) => directive.type === type);

/** Instead of what a block printed: what is shown of it is not held to anything. */
const NOTHING_RAN = '\0';

function lacks({ directives }: Block): boolean {
  const programs = directives.flatMap((each) => (each.type === 'needs' ? [each.program] : []));
  return programs.some((program) => !isInstalled(program));
}

export function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0;
}

/** @returns what it printed, where it did */
async function runBlock(block: Block, shell: Shell, printed: string): Promise<string | undefined> {
  const { language, text, directives } = block;
  if (language === 'stop') {
    await shell.stop();
    return undefined;
  }
  for (const directive of directives) if (directive.type === 'file') shell.saveFile(directive.name, text);
  if (has(block, 'skip') || lacks(block)) return NOTHING_RAN;
  if (block.isOutput) return printed === NOTHING_RAN ? undefined : compare(block, printed);
  switch (language) {
    case 'sh':
      return runCommands(block, shell);
    case 'json':
      JSON.parse(text);
      return undefined;
    case 'yaml':
      for (const { errors } of parseAllDocuments(text)) if (errors[0] !== undefined) throw errors[0];
      return undefined;
    case 'python':
      if (isInstalled('python3'))
        check('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], text);
      return undefined;
    case 'ts':
      return runProgram(block, shell);
    case '':
      return undefined;
    default:
      if (has(block, 'file')) return undefined;
      throw new Error(`nobody runs a block of "${language}": say why in a comment before it`);
  }
}

function compare({ text, language }: Block, printed: string): undefined {
  const missing = missingLine(text, printed, language === 'json');
  if (missing === undefined) return;
  throw new Error(`it shows\n${missing}\nbut what was printed is\n${printed}`);
}

async function runCommands(block: Block, shell: Shell): Promise<string> {
  const left = block.directives.flatMap((each) => (each.type === 'skip-line' ? [each.line] : []));
  const lines = block.text.split('\n');
  const commands = lines.filter((line) => !left.includes(line)).join('\n');
  if (left.some((line) => !lines.includes(line))) throw new Error(`there is no line to skip: ${left}`);
  const [until] = block.directives.flatMap((each) => (each.type === 'until' ? [each.text] : []));
  const { code, output } =
    until === undefined ? await shell.run(commands) : await shell.start(commands, until);
  if ((code !== 0) !== has(block, 'fails')) {
    throw new Error(`it ${code === 0 ? 'did not fail' : `ended with ${code}`}:\n${block.text}\n${output}`);
  }
  return output.replaceAll(/^failed: .*\n/gm, '');
}

async function runProgram({ text, line }: Block, shell: Shell): Promise<string> {
  const name = `block-${line}.ts`;
  shell.saveFile(name, text);
  const { code, output } = await shell.run(`node --no-warnings ${name}`);
  if (code !== 0) throw new Error(`it ended with ${code}:\n${output}`);
  return output;
}

function check(program: string, args: readonly string[], input: string): void {
  const { status, stderr } = spawnSync(program, args, { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}
