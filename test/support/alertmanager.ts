/** Debian's prometheus-alertmanager, or whichever is on the path, on a loopback port. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { StopStack } from '../../src/lib/stop-stack.ts';
import { removeDirectory, temporaryDirectory } from './server.ts';
import { eventually } from './site.ts';

const PROGRAMS = ['prometheus-alertmanager', 'alertmanager'];
const START_DEADLINE_MS = 15_000;

export const ALERTMANAGER_PROGRAM = PROGRAMS.find((program) => {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

/** An alert as its API shows it. */
export interface ApiAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly generatorURL?: string;
  readonly status: { readonly state: string };
}

export interface Alertmanager {
  readonly url: string;
  /** Those that fire. */
  alerts(): Promise<readonly ApiAlert[]>;
  post(...alerts: readonly object[]): Promise<void>;
  output(): string;
}

/** Groups by `service`, waits for next to nothing, repeats soon, and tells a webhook. */
export async function startAlertmanager(made: StopStack, webhookUrl: string): Promise<Alertmanager> {
  const directory = temporaryDirectory();
  made.push(() => removeDirectory(directory));
  const config = join(directory, 'alertmanager.json');
  writeFileSync(
    config,
    JSON.stringify({
      route: {
        receiver: 'foreshock',
        group_by: ['service'],
        ...{ group_wait: '200ms', group_interval: '1s', repeat_interval: '2s' },
      },
      receivers: [{ name: 'foreshock', webhook_configs: [{ url: webhookUrl, send_resolved: true }] }],
    }),
  );
  const port = await freePort();
  const args = [
    `--config.file=${config}`,
    `--storage.path=${directory}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--cluster.listen-address=',
  ];
  const child: ChildProcess = spawn(ALERTMANAGER_PROGRAM ?? '', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  made.push(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually('Alertmanager is ready', START_DEADLINE_MS, () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return {
    url,
    output: () => output,
    alerts: async () => (await (await fetch(`${url}/api/v2/alerts`)).json()) as readonly ApiAlert[],
    post: async (...alerts) => {
      const headers = { 'Content-Type': 'application/json' };
      const answer = await fetch(`${url}/api/v2/alerts`, {
        ...{ method: 'POST', headers, body: JSON.stringify(alerts) },
      });
      if (!answer.ok) throw new Error(`Alertmanager answered ${answer.status}: ${await answer.text()}`);
    },
  };
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
