/** The server of the demonstration, with its fleet: its clock can be behind, so that it has a past. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type EventBody, ForeshockClient } from '../../src/client/index.ts';
import { DEFAULTS } from '../../src/config.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { nodeDisk } from '../../src/lib/disk.ts';
import { systemEntropy } from '../../src/lib/entropy.ts';
import { systemLogger } from '../../src/lib/logger.ts';
import { eventLoop } from '../../src/lib/scheduler.ts';
import { parseAllowEntry } from '../../src/outbound/allow-entry.ts';
import { startServer } from '../../src/server.ts';
import { startFakePagerDuty } from '../support/fake-pagerduty.ts';
import { AGENTS, chance, pick, SERVICES, type Story } from './fleet.ts';

const MAIN = resolve(import.meta.dirname, '../../src/main.ts');

class LateClock implements Clock {
  /** How far it is behind. */
  behindMs = 0;

  now(): number {
    return systemClock.now() - this.behindMs;
  }

  monotonic(): number {
    return systemClock.monotonic();
  }
}

export interface Demo {
  readonly url: string;
  readonly readOnlyKey: string;
  readonly clock: LateClock;
  /** Tells of an event, by one of the two agents that are always there for its service. */
  report(event: EventBody): Promise<void>;
  /** All but the last two, which fall silent and are found to be stale. */
  heartbeat(): Promise<void>;
  raise(story: Story): Promise<void>;
  resolve(story: Story): Promise<void>;
  /** Leaves nothing behind. */
  stop(): Promise<void>;
}

export async function startDemo(port: number, behindMs: number): Promise<Demo> {
  const clock = new LateClock();
  clock.behindMs = behindMs;
  const logger = systemLogger();
  logger.level = 'warn';
  const dataDirectory = mkdtempSync(join(tmpdir(), 'foreshock-demo-'));
  const pagerDuty = await startFakePagerDuty();
  const allowed = parseAllowEntry('127.0.0.1');
  const server = await startServer(
    {
      ...DEFAULTS,
      port,
      dataDirectory,
      outboundAllow: allowed.type === 'entry' ? [allowed.entry] : [],
      pagerdutyApiUrl: pagerDuty.url,
      pagerdutyEventsUrl: pagerDuty.url,
    },
    {
      ...{ disk: nodeDisk, clock, scheduler: eventLoop, entropy: systemEntropy, logger },
      onFatal: (error) => {
        throw error;
      },
    },
  );
  const url = `http://127.0.0.1:${server.port}`;
  const readOnlyKey = server.firstKeys?.readOnly ?? '';
  const agents = await registerAll(url, dataDirectory);
  const reader = new ForeshockClient({ baseUrl: url, apiKey: readOnlyKey });
  const { id, token } = await reader.createIntegration({ type: 'pagerduty', direction: 'bidirectional' });
  const config = { pagerduty_token: pagerDuty.token, pagerduty_from: pagerDuty.from };
  await reader.configureIntegration(id, config);
  let told = 0;
  const tell = async ({ id: incident, title, service }: Story, what: 'triggered' | 'resolved') => {
    told += 1;
    const at = new Date(clock.now()).toISOString();
    const data = {
      id: incident,
      type: 'incident',
      title,
      urgency: 'high',
      service: { id: 'S', summary: service },
    };
    const event = {
      id: `demo-${told}`,
      event_type: `incident.${what}`,
      occurred_at: at,
      data: { ...data, ...(what === 'triggered' && { created_at: at }) },
    };
    await reader.receiveWebhook('pagerduty', token, { event });
  };
  return {
    ...{ url, readOnlyKey, clock },
    report: async (event) => {
      const at = SERVICES.indexOf(event.service_name) * 2 + (chance() < 0.5 ? 0 : 1);
      await (agents[at] ?? pick(agents)).client.recordEvent(event);
    },
    heartbeat: async () => {
      for (const { id: agent, client } of agents.slice(0, -2)) await client.heartbeat(agent);
    },
    raise: (story) => tell(story, 'triggered'),
    resolve: (story) => tell(story, 'resolved'),
    stop: async () => {
      await server.stop();
      await pagerDuty.stop();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}

async function registerAll(url: string, dataDirectory: string) {
  const flags = ['--tenant', 'default', '--kind', 'ingest', '--count', String(AGENTS), '--json'];
  const args = [MAIN, 'keys', 'create', '--data-dir', dataDirectory, ...flags];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const keys = stdout.trim().split('\n');
  return Promise.all(
    keys.map(async (line, index) => {
      const { key }: { readonly key: string } = JSON.parse(line);
      const hostname = `node-${String(index + 1).padStart(2, '0')}.eu-west.example`;
      const client = new ForeshockClient({ baseUrl: url, apiKey: key });
      const { id } = await client.registerAgent({ hostname, version: '1.4.2' });
      return { client, id };
    }),
  );
}
