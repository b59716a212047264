/**
 * A shell as a reader has it open beside a document: in a directory of its own, in which the project stands as in a
 * checkout, and `foreshock` is a command. What a reader would have to adapt is replaced, and nothing else:
 *
 * | in the document                       | here                                                               |
 * | ------------------------------------- | ------------------------------------------------------------------ |
 * | ports 8080, 8081                      | free ports, the first also as FORESHOCK_PORT and FORESHOCK_SERVER  |
 * | `/var/lib/`, `/var/log/`, `/backup/`  | the same below the directory                                       |
 * | `export NAME=fsk_ing_…`               | what was last printed and begins so                                |
 * | `export NAME_ID=…`, `export NAME=…`   | that member of the JSON, or that column of the table, printed last |
 * | PagerDuty, its token `u+…`            | a fake of it, and its token                                        |
 * | what npm says before a script         | left out of what is printed                                        |
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import type { StopStack } from '../../src/lib/stop-stack.ts';
import { eventually } from '../support/site.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const BLOCK_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 10_000;
const FILL_IN = /^export (\w+)=['"]?([\w+]*)…['"]?$/;

/** curl takes an answer of 404 for a success; a document that shows one says so. And it ends no line. */
const PREAMBLE = `
curl() { local code=0; command curl --fail-with-body "$@" || code=$?; echo; return $code; }
[ ! -e .shell-state ] || { . ./.shell-state; }
cd "\${DOCS_DIRECTORY:-.}"
set -eEu -o pipefail
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
`;

export interface Run {
  readonly code: number | null;
  /** Both streams, as they came, with ports as the document has them. */
  readonly output: string;
}

export class Shell {
  readonly directory: string;
  readonly #made: StopStack;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #ports: ReadonlyMap<string, number>;
  readonly #background: { readonly child: ChildProcess; readonly exited: Promise<unknown> }[] = [];
  /** In the order in which it came. */
  #printed: { readonly by: ChildProcess; readonly text: string }[] = [];

  private constructor(
    directory: string,
    made: StopStack,
    ports: ReadonlyMap<string, number>,
    environment: Readonly<Record<string, string>>,
  ) {
    this.directory = directory;
    this.#made = made;
    this.#ports = ports;
    const { PATH = '', HOME = '' } = process.env;
    this.#environment = {
      HOME,
      PATH: `${join(directory, 'bin')}:${join(ROOT, 'node_modules/.bin')}:${PATH}`,
      FORESHOCK_PORT: String(ports.get('8080')),
      FORESHOCK_SERVER: `http://127.0.0.1:${ports.get('8080')}`,
      npm_config_update_notifier: 'false',
      ...environment,
    };
  }

  /** What is opened is stopped with `made`. `directory` must be there. */
  static async open(
    directory: string,
    made: StopStack,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Shell> {
    for (const name of readdirSync(ROOT)) {
      if (name !== 'data' && name !== '.git') symlinkSync(join(ROOT, name), join(directory, name));
    }
    for (const name of ['bin', 'var/lib', 'var/log', 'backup', 'data']) {
      mkdirSync(join(directory, name), { recursive: true });
    }
    const program = join(directory, 'bin/foreshock');
    writeFileSync(program, `#!/bin/sh\nexec node ${join(ROOT, 'src/main.ts')} "$@"\n`);
    chmodSync(program, 0o755);
    const ports = new Map([
      ['8080', await freePort()],
      ['8081', await freePort()],
    ]);
    return new Shell(directory, made, ports, environment);
  }

  saveFile(name: string, text: string): void {
    writeFileSync(join(this.directory, name), this.#adapted(`${text}\n`));
  }

  /** Runs commands to their end, or up to the first that fails. */
  async run(commands: string): Promise<Run> {
    let output = '';
    let piece: string[] = [];
    for (const line of [...commands.split('\n'), undefined]) {
      const toFillIn = line === undefined ? null : FILL_IN.exec(line);
      if (line !== undefined && toFillIn === null) {
        piece.push(line);
        continue;
      }
      const run = await this.#execute(piece.join('\n'));
      output += run.output;
      if (run.code !== 0) return { code: run.code, output };
      piece = [];
      if (toFillIn !== null) {
        const [, name = '', beginning = ''] = toFillIn;
        piece.push(`export ${name}='${this.#find(name, beginning)}'`);
      }
    }
    return { code: 0, output };
  }

  /** Runs commands that do not end, and waits until they have printed `text`. */
  async start(commands: string, text: string): Promise<Run> {
    const child = this.#spawn(commands);
    let output = '';
    let code: number | null = null;
    let ended = false;
    listen(child, (more) => {
      output += more;
      this.#printed.push({ by: child, text: more });
    });
    const exited = new Promise<void>((done) => {
      child.once('close', (status) => {
        code = status;
        ended = true;
        done();
      });
    });
    this.#background.push({ child, exited });
    this.#made.push(() => this.stop());
    await eventually(`it prints "${text}"`, BLOCK_DEADLINE_MS, () => ended || output.includes(text)).catch(
      (error: Error) => {
        throw new Error(`${error.message}; it printed\n${output}`);
      },
    );
    // What it has to say comes in one piece, which may be two on a pipe.
    await new Promise((done) => setTimeout(done, 200));
    return { code: ended ? (code ?? 1) : 0, output: this.#asShown(output) };
  }

  /** As Ctrl-C does, to what was started last and runs on. What it printed is not copied from any more. */
  async stop(): Promise<void> {
    const last = this.#background.pop();
    if (last === undefined) return;
    const { child, exited } = last;
    signal(child, 'SIGINT');
    const timer = setTimeout(() => signal(child, 'SIGKILL'), STOP_DEADLINE_MS);
    await exited;
    clearTimeout(timer);
    this.#printed = this.#printed.filter(({ by }) => by !== child);
  }

  async #execute(commands: string): Promise<Run> {
    if (commands.trim() === '') return { code: 0, output: '' };
    const child = this.#spawn(
      `${commands}\ndeclare -px > "$DOCS_STATE"; echo "export DOCS_DIRECTORY='$PWD'" >> "$DOCS_STATE"`,
    );
    let output = '';
    listen(child, (text) => {
      output += text;
    });
    const timer = setTimeout(() => signal(child, 'SIGKILL'), BLOCK_DEADLINE_MS);
    const code = await new Promise<number | null>((done) => child.once('close', done));
    clearTimeout(timer);
    this.#printed.push({ by: child, text: output });
    if (code === null) output += `\n(killed after ${BLOCK_DEADLINE_MS / 1000} s)`;
    return { code: code ?? 1, output: this.#asShown(output) };
  }

  #spawn(commands: string): ChildProcess {
    const script = `exec 2>&1\n${PREAMBLE}\n${this.#adapted(commands)}\n`;
    return spawn('bash', ['-c', script], {
      cwd: this.directory,
      env: { ...this.#environment, DOCS_STATE: join(this.directory, '.shell-state') },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
  }

  #adapted(text: string): string {
    let adapted = text
      .replaceAll('u+…', 'u+example')
      .replaceAll(/(?<![\w.])\/(var\/lib|var\/log|backup)\//g, `${this.directory}/$1/`);
    for (const [shown, port] of this.#ports) adapted = adapted.replaceAll(`:${shown}`, `:${port}`);
    return adapted;
  }

  #asShown(output: string): string {
    let shown = output.replaceAll(`${this.directory}/`, '/');
    for (const [name, port] of this.#ports) shown = shown.replaceAll(`:${port}`, `:${name}`);
    return shown.replaceAll(/^(?:> |npm warn ).*\n/gm, '');
  }

  /** What a reader copies from what is printed above. @throws where nothing of the kind is */
  #find(name: string, beginning: string): string {
    const printed = this.#printed.map(({ text }) => text).join('');
    if (beginning !== '') {
      const found = printed.match(new RegExp(`${beginning}[\\w+]+`, 'g'))?.at(-1);
      if (found === undefined) throw new Error(`nothing that begins with ${beginning} was printed`);
      return found;
    }
    const wanted = name.endsWith('_ID') ? 'id' : name.toLowerCase();
    for (const line of printed.split('\n').reverse()) {
      const value =
        new RegExp(`"${wanted}":"([^"]+)"`).exec(line)?.[1] ??
        (wanted === 'id' ? /^[0-9a-f]{8}-[0-9a-f-]{27}(?= )/.exec(line)?.[0] : undefined);
      if (value !== undefined) return value;
    }
    throw new Error(`nothing with "${wanted}" was printed`);
  }
}

function listen(child: ChildProcess, take: (text: string) => void): void {
  child.stdout?.setEncoding('utf8').on('data', take);
}

/** To the commands of a shell, too. */
function signal(child: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, name);
  } catch {
    // It has ended.
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
