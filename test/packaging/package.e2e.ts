/** What `npm pack` makes, as others get it: installed for a machine, and as the client of a project. */
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXAMPLES } from '../client/examples.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
/** What there is of Node here, beside the one that runs this. */
const NODES = [process.execPath, '/usr/bin/node', '/usr/local/bin/node'].filter(existsSync);

/** As in a shell of somebody else: npm hands down what it is doing, and this project its commands. */
const ENV = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:npm_|FORESHOCK)/i.test(name))),
  PATH: (process.env['PATH'] ?? '')
    .split(':')
    .filter((each) => !each.includes('node_modules'))
    .join(':'),
};

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly output: string;
}

function run(command: string, args: readonly string[], cwd: string): Promise<Ran> {
  const child = spawn(command, args, { cwd, env: ENV, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  return new Promise((done, reject) => {
    child.once('error', reject);
    child.once('close', (code) => done({ code, stdout, output }));
  });
}

async function succeed(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, output } = await run(command, args, cwd);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output}`);
  return stdout;
}

const reachable = await run(
  'npm',
  ['view', 'uuid', 'version', '--fetch-retries=0', '--fetch-timeout=5000'],
  ROOT,
).catch(() => null);
const problem = reachable?.code === 0 ? undefined : 'npm cannot reach a registry';
if (problem !== undefined) process.stderr.write(`the package is not installed: ${problem}\n`);

// What npm has kept is as good as what it would fetch again, and a connection that hangs would be waited for five minutes.
const INSTALL = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-timeout=20000'];

const PROGRAM = `
import { ForeshockClient, ForeshockError, type EventBody, type StreamMessage } from 'foreshock/client';

const [baseUrl = '', ingestKey = '', readOnlyKey = ''] = process.argv.slice(2);
const agent = new ForeshockClient({ baseUrl, apiKey: ingestKey });
const reader = new ForeshockClient({ baseUrl, apiKey: readOnlyKey });
const event: EventBody = {
  service_name: 'packed', vendor: 'v', entity: 'e', event_type: 'deploy', confidence: 1, ttl_seconds: 60,
};
const { id } = await agent.registerAgent({ hostname: 'db-1' });
const batcher = agent.batcher();
await batcher.add(event);
await batcher.close();
const first = async (): Promise<StreamMessage | undefined> => {
  for await (const message of reader.stream({ lastEventId: '1' })) if (message.type === 'event') return message;
  return undefined;
};
const message = await first();
const entities: string[] = [];
for await (const { entity } of reader.agentEvents(id)) entities.push(entity);
// @ts-expect-error: no event has such a type
const wrong = await agent.recordEvent({ ...event, event_type: 'nothing' }).catch((error: unknown) => error);
const status: number | null = wrong instanceof ForeshockError ? wrong.status : null;
console.log(JSON.stringify({ type: message?.type, entities, status }));
`;

describe.skipIf(problem !== undefined)('the package', () => {
  const directory = temporaryDirectory();
  const prefix = join(directory, 'prefix');
  const data = join(directory, 'data');
  let tarball = '';

  beforeAll(async () => {
    const source = join(directory, 'source');
    mkdirSync(source);
    for (const name of ['src', 'package.json', 'tsconfig.json', 'README.md', 'CHANGELOG.md']) {
      cpSync(join(ROOT, name), join(source, name), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'));
    await succeed('npm', ['pack', '--pack-destination', directory], source);
    tarball = join(directory, readdirSync(directory).find((name) => name.endsWith('.tgz')) ?? '');
  }, 120_000);
  afterAll(() => removeDirectory(directory));

  /** The installed program, serving until `stop`. */
  async function serve() {
    const child = spawn(join(prefix, 'bin/foreshock'), ['serve', '--port', '0', '--data-dir', data], {
      env: ENV,
      cwd: directory,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    const exited = new Promise<number | null>((done) => child.once('exit', done));
    await expect.poll(() => output, { timeout: 30_000 }).toMatch(/\/context/);
    const found = (pattern: RegExp) => pattern.exec(output)?.[1] ?? '';
    const url = found(/listens on (http:\S+)/);
    const keys = [found(/ingest key\s+(\S+)/), found(/read-only key\s+(\S+)/)] as const;
    const stop = () => {
      child.kill('SIGTERM');
      return exited;
    };
    return { url, keys, stop };
  }

  it('holds what runs, and no tests', async () => {
    const names = (await succeed('tar', ['tzf', tarball], directory)).trim().split('\n');
    expect(names).toContain('package/dist/src/main.js');
    expect(names).toContain('package/dist/src/client/index.d.ts');
    expect(names.filter((name) => /\/test\/|\.env|node_modules/.test(name))).toEqual([]);
  });

  it('installs for a machine, serves a page and a client of its own, and leaves only data', async () => {
    await succeed('npm', [...INSTALL, '--global', '--prefix', prefix, tarball], directory);
    const program = join(prefix, 'bin/foreshock');
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect((await succeed(program, ['--version'], directory)).trim()).toBe(version);
    const { url, keys, stop } = await serve();
    try {
      const page = await (await fetch(url)).text();
      const assets = [...page.matchAll(/"(\/assets\/[^"]+)"/g)].map((match) => match[1] ?? '');
      expect(assets.some((path) => path.endsWith('/main.js'))).toBe(true);
      for (const path of assets) expect((await fetch(url + path)).status).toBe(200);

      const project = join(directory, 'project');
      mkdirSync(project);
      const manifest = { name: 'project', private: true, type: 'module' };
      writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
      writeFileSync(join(project, 'main.ts'), PROGRAM);
      const types = 'readonly argv: string[]; readonly env: Record<string, string | undefined>';
      writeFileSync(join(project, 'globals.d.ts'), `declare const process: { ${types} };\n`);
      const examples = EXAMPLES.map(({ line, program: text }) => {
        writeFileSync(join(project, `example-${line}.ts`), text);
        return `example-${line}.ts`;
      });
      await succeed('npm', [...INSTALL, '--ignore-scripts', tarball], project);
      const strict = [
        '--strict',
        '--exactOptionalPropertyTypes',
        '--noUncheckedIndexedAccess',
        '--target',
        'es2022',
      ];
      const lib = ['--lib', 'es2022,dom,dom.iterable,dom.asynciterable'];
      const sources = ['main.ts', 'globals.d.ts', ...examples];
      const bundler = ['--module', 'esnext', '--moduleResolution', 'bundler', '--noEmit'];
      await succeed(process.execPath, [TSC, ...strict, ...lib, ...bundler, ...sources], project);
      const nodenext = ['--module', 'nodenext', '--moduleResolution', 'nodenext'];
      await succeed(process.execPath, [TSC, ...strict, ...lib, ...nodenext, ...sources], project);
      for (const node of NODES) {
        const said = JSON.parse(await succeed(node, ['main.js', url, ...keys], project));
        expect(said).toMatchObject({ type: 'event', status: 400 });
        expect(new Set(said.entities)).toEqual(new Set(['e']));
      }
    } finally {
      expect(await stop()).toBe(0);
    }
    await succeed('npm', ['uninstall', '--global', '--prefix', prefix, 'foreshock'], directory);
    expect(existsSync(program)).toBe(false);
    expect(readdirSync(join(prefix, 'lib/node_modules'))).not.toContain('foreshock');
    expect(readdirSync(data).length).toBeGreaterThan(0);
  }, 240_000);
});
