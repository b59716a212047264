/**
 * `npm run demo`: a server on a data directory of its own, with a simulated fleet: sixty agents that report of thirty
 * services, and three things that go wrong, with an alert for each. Ends with Ctrl-C, and leaves nothing behind.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { type EventBody, ForeshockClient } from '../../src/client/index.ts';
import { AGENTS, everyday, pick, SERVICES, STORIES } from './fleet.ts';

const { values } = parseArgs({ options: { port: { type: 'string', default: '8080' } } });
const MAIN = resolve(import.meta.dirname, '../../src/main.ts');
const EVERYDAY_MS = 1500;
const HEARTBEAT_MS = 20_000;
const STORY_AFTER_MS = 5000;
const STORY_EVERY_MS = 8000;
const STEP_MS = 2000;

const directory = mkdtempSync(join(tmpdir(), 'foreshock-demo-'));
const server = spawn(process.execPath, [MAIN, 'serve', '--port', values.port, '--data-dir', directory], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
server.once('exit', (code) => {
  rmSync(directory, { recursive: true, force: true });
  process.exit(code ?? 1);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => server.kill('SIGTERM'));

const welcome = await new Promise<string>((done) => {
  let output = '';
  server.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.includes('/context')) done(output);
  });
});
const url = found(/listens on (\S+)/);
const readOnlyKey = found(/read-only key\s+(\S+)/);

function found(pattern: RegExp): string {
  const match = pattern.exec(welcome)?.[1];
  if (match === undefined) throw new Error('the server said something else than expected');
  return match;
}

const reader = new ForeshockClient({ baseUrl: url, apiKey: readOnlyKey });
const wait = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));
const flags = ['--tenant', 'default', '--kind', 'ingest', '--count', String(AGENTS), '--json'];
const made = await promisify(execFile)(process.execPath, [
  MAIN,
  'keys',
  'create',
  '--data-dir',
  directory,
  ...flags,
]);
const agents = await Promise.all(
  made.stdout
    .trim()
    .split('\n')
    .map(async (line, index) => {
      const { key }: { readonly key: string } = JSON.parse(line);
      const hostname = `node-${String(index + 1).padStart(2, '0')}.eu-west.example`;
      const client = new ForeshockClient({ baseUrl: url, apiKey: key });
      const { id } = await client.registerAgent({ hostname, version: '1.4.2' });
      return { client, id };
    }),
);

/** A service is always told of by the same agents. */
function report(event: EventBody): Promise<void> {
  const at = SERVICES.indexOf(event.service_name) * 2 + (Math.random() < 0.5 ? 0 : 1);
  return (agents[at] ?? pick(agents)).client.recordEvent(event);
}

const { token } = await reader.createIntegration({ type: 'pagerduty', direction: 'inbound' });
await Promise.all(SERVICES.map((service_name) => report(everyday(service_name))));
for (let count = 0; count < 2 * SERVICES.length; count += 1) await report(everyday());

process.stdout.write(`
  A fleet of ${SERVICES.length} services and ${AGENTS} agents reports. In a few seconds things go wrong.

  Open      ${url}/
  and enter ${readOnlyKey}

  Ctrl-C ends it.
`);

const ignore = () => {};
setInterval(() => report(everyday()).catch(ignore), EVERYDAY_MS);
setInterval(() => {
  // The last two fall silent, and are found to be stale.
  for (const { id, client } of agents.slice(0, -2)) client.heartbeat(id).catch(ignore);
}, HEARTBEAT_MS);

await wait(STORY_AFTER_MS);
for (const [index, { title, service, events }] of STORIES.entries()) {
  for (const event of events) {
    await report(event);
    await wait(STEP_MS);
  }
  const data = {
    id: `PDEMO${index + 1}`,
    type: 'incident',
    title,
    urgency: 'high',
    created_at: new Date().toISOString(),
    service: { id: `SVC${index + 1}`, summary: service },
  };
  const event = {
    id: `demo-${index + 1}`,
    event_type: 'incident.triggered',
    occurred_at: data.created_at,
    data,
  };
  await reader.receiveWebhook('pagerduty', token, { event });
  await wait(STORY_EVERY_MS);
}
