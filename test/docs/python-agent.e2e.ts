/** The agent of the agent writer's guide, as it stands there, against a real server and a network that fails. */
import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  foreshock,
  removeDirectory,
  type ServerProcess,
  startServer,
  temporaryDirectory,
} from '../support/server.ts';
import { eventually } from '../support/site.ts';
import { isInstalled } from './document.ts';
import { blocksOf } from './markdown.ts';

const GUIDE = readFileSync(resolve(import.meta.dirname, '../../src/docs/agent-writers-guide.md'), 'utf8');
const PROGRAM = blocksOf(GUIDE).find(({ language }) => language === 'python')?.text ?? '';

/** What becomes of the next request for a batch, instead of being handed on. */
type Fault = 'refused' | 'answer-lost' | 'no-answer';

class FailingNetwork {
  readonly faults: Fault[] = [];
  readonly paths: string[] = [];
  readonly #target: string;
  readonly #server: Server;

  constructor(target: string) {
    this.#target = target;
    this.#server = createServer((request, response) => {
      this.#take(request, response).catch(() => response.destroy());
    });
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    this.paths.push(path);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const fault = path.endsWith('/batch') ? this.faults.shift() : undefined;
    if (fault === 'no-answer') return;
    if (fault === 'refused') {
      response.writeHead(503, { 'Retry-After': '0' }).end('not now');
      return;
    }
    const headers = new Headers();
    for (const name of ['authorization', 'content-type', 'idempotency-key']) {
      const value = request.headers[name];
      if (typeof value === 'string') headers.set(name, value);
    }
    const answer = await fetch(this.#target + path, { method: 'POST', headers, body: Buffer.concat(chunks) });
    const body = await answer.text();
    if (fault === 'answer-lost') request.socket.destroy();
    else response.writeHead(answer.status).end(answer.status === 204 ? undefined : body);
  }

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    const address = this.#server.address();
    return `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

describe.skipIf(!isInstalled('python3'))('the agent in Python (skipped where there is no python3)', () => {
  const data = temporaryDirectory();
  let server: ServerProcess;
  let network: FailingNetwork;
  let url: string;
  let key: string;
  let agentId: string | undefined;
  let directory: string;
  const agents: ChildProcess[] = [];
  beforeAll(async () => {
    server = await startServer(data);
  });
  afterAll(async () => {
    await server.stop();
    removeDirectory(data);
  });
  beforeEach(async () => {
    agentId = undefined;
    directory = temporaryDirectory();
    writeFileSync(join(directory, 'agent.py'), PROGRAM);
    writeFileSync(join(directory, 'deploy.log'), '');
    network = new FailingNetwork(server.url);
    url = await network.listen();
    const made = await foreshock(
      'keys',
      'create',
      '--tenant',
      'default',
      '--kind',
      'ingest',
      '--json',
      '--data-dir',
      data,
    );
    key = JSON.parse(made.stdout).key;
  });
  afterEach(() => {
    for (const agent of agents.splice(0)) agent.kill('SIGKILL');
    network.close();
    removeDirectory(directory);
  });

  const start = (environment: Readonly<Record<string, string>> = {}) => {
    const child = spawn('python3', ['agent.py', 'deploy.log', 'deploy.state'], {
      cwd: directory,
      env: {
        ...process.env,
        ...{ FORESHOCK_SERVER: url, FORESHOCK_KEY: key, MAX_WAIT_SECONDS: '0.1' },
        ...environment,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    agents.push(child);
    const agent = { child, said: '', ended: new Promise<number | null>((done) => child.once('close', done)) };
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      agent.said += text;
      agentId = /registered as agent (\S+)/.exec(agent.said)?.[1] ?? agentId;
    });
    return agent;
  };
  const kill = (agent: ReturnType<typeof start>) => {
    agent.child.kill('SIGKILL');
    return agent.ended;
  };
  const write = (revision: string, file = 'deploy.log') =>
    appendFileSync(
      join(directory, file),
      `2026-11-20T10:11:03Z deployed checkout-api v0 -> ${revision} by ci\nnothing of note\n`,
    );
  const reported = async (): Promise<string[]> => {
    const answer = await fetch(`${server.url}/v1/agents/${agentId}?per_page=100`, {
      headers: { Authorization: `Bearer ${server.readOnlyKey}` },
    });
    const { events } = (await answer.json()) as {
      readonly events: readonly { readonly new_value: string }[];
    };
    return events.map(({ new_value }) => new_value).sort();
  };
  const arrives = (...revisions: string[]) =>
    eventually(`${revisions} arrive, once`, 10_000, async () => {
      if (agentId === undefined) return false;
      return JSON.stringify(await reported()) === JSON.stringify(revisions);
    });

  it('sends again what was refused or whose answer was lost, and nothing twice', async () => {
    network.faults.push('refused', 'refused', 'answer-lost', 'answer-lost');
    write('v1');
    const agent = start();
    await eventually('all faults are over', 10_000, () => network.faults.length === 0);
    write('v2');
    await arrives('v1', 'v2');
    expect(agent.said).toContain('the server is away (503 not now); trying again');
  });

  it.each<Fault>(['no-answer', 'answer-lost'])('goes on after kill -9, where it was: %s', async (fault) => {
    network.faults.push(fault, 'no-answer');
    write('v1');
    const first = start();
    const wanted = fault === 'no-answer' ? 1 : 2;
    await eventually(
      'it sends',
      10_000,
      () => network.paths.filter((path) => path.endsWith('/batch')).length === wanted,
    );
    await kill(first);
    network.faults.splice(0);
    write('v2');
    start();
    await arrives('v1', 'v2');
  });

  it('follows the log where it is rotated, and reads the rest of the old one first', async () => {
    write('v1');
    const first = start();
    await arrives('v1');
    await kill(first);
    write('v2');
    renameSync(join(directory, 'deploy.log'), join(directory, 'deploy.log.1'));
    write('v3');
    start();
    await arrives('v1', 'v2', 'v3');
  });

  it('says that it is alive where there is nothing to say', async () => {
    start({ HEARTBEAT_SECONDS: '0.2' });
    await eventually(
      'two heartbeats',
      10_000,
      () => network.paths.filter((path) => path.endsWith('/heartbeat')).length > 1,
    );
  });

  it('ends where its key is no good, and says why', async () => {
    const agent = start({ FORESHOCK_KEY: key.replace(/.$/, key.endsWith('0') ? '1' : '0') });
    expect(await agent.ended).toBe(1);
    expect(agent.said).toContain('the server refuses this agent: 401 the API key is not valid');
  });

  it('tells of events that are refused, and goes on', async () => {
    appendFileSync(
      join(directory, 'deploy.log'),
      `yesterday deployed checkout-api v0 -> v1 by ci\n${'x'.repeat(1e6)}\n`,
    );
    const agent = start();
    write('v2');
    await arrives('v2');
    const sentence = 'an event was refused: timestamp must be an ISO 8601 time';
    await eventually('it says so', 10_000, () => agent.said.includes(sentence));
  });
});
