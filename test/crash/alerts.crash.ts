/**
 * Kills between every step from a webhook to a note. Whatever the moment: what was answered 202 is an alert, once;
 * an incident has one note, though nobody knew whether it had been made; an agent's silence is told once.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { StopStack } from '../../src/lib/stop-stack.ts';
import type { IntegrationBody } from '../http/bodies.ts';
import { webhookPath } from '../http/operations.ts';
import { Random } from '../sim/random.ts';
import { startFakePagerDuty } from '../support/fake-pagerduty.ts';
import { bodyOf } from '../support/http.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';
import { eventually, Site, sleep } from '../support/site.ts';

const KILLS = Number(process.env['FORESHOCK_KILL_ROUNDS'] ?? 6);
const SEED = Number(process.env['FORESHOCK_KILL_SEED'] ?? 1);
/** An attempt that a dead process began is given up after 15 s. */
const SETTLED_WITHIN_MS = 45_000;
const INTEGRATIONS = 3;

/** When the server dies. */
const MOMENTS = ['any time', 'call read', 'call dropped', 'note made', 'answer sent'] as const;
type Moment = (typeof MOMENTS)[number];

type Test = (made: StopStack) => Promise<void>;

/** What a test made is cleared away after it; the two run at once, since both wait more than they work. */
const clearing = (test: Test) => async () => {
  const made = new StopStack();
  try {
    await test(made);
  } finally {
    await made.run();
  }
};

function newSite(made: StopStack, ...flags: readonly string[]): Site {
  const directory = temporaryDirectory();
  made.push(() => removeDirectory(directory));
  return new Site(made, directory, '--outbound-allow', '127.0.0.1', '--segment-bytes', '16384', ...flags);
}

async function integrate(site: Site, type: string, config: object): Promise<IntegrationBody> {
  const { readOnly } = site.keys;
  const { http } = site.server;
  const wanted = { type, direction: 'bidirectional' };
  const integration: IntegrationBody = bodyOf(await http.post('/v1/integrations', readOnly, wanted), 201);
  expect((await http.put(`/v1/integrations/${integration.id}`, readOnly, { config })).status).toBe(200);
  return integration;
}

interface DeliveryBody {
  readonly kind: string;
  readonly state: string;
}

async function deliveriesOf(site: Site, { id }: IntegrationBody): Promise<readonly DeliveryBody[]> {
  return bodyOf(await site.get(`/v1/integrations/${id}/deliveries`));
}

/** What PagerDuty does: it tells of each incident until it is answered 202. */
class Teller {
  readonly #site: Site;
  readonly #integrations: readonly IntegrationBody[];
  readonly #unanswered: string[] = [];
  readonly incidents: string[] = [];
  stopped = false;

  constructor(site: Site, integrations: readonly IntegrationBody[]) {
    this.#site = site;
    this.#integrations = integrations;
  }

  /** As long as the server lives. */
  async tell(): Promise<void> {
    const { server } = this.#site;
    while (server.running && !this.stopped) {
      const incident = this.#unanswered.shift() ?? this.#next();
      if (!(await this.#isTold(incident))) this.#unanswered.push(incident);
      await sleep(40);
    }
  }

  async tellTheRest(): Promise<void> {
    for (const incident of this.#unanswered.splice(0)) expect(await this.#isTold(incident)).toBe(true);
  }

  #next(): string {
    const incident = `Q${this.incidents.length}`;
    this.incidents.push(incident);
    return incident;
  }

  async #isTold(incident: string): Promise<boolean> {
    const integration = this.#integrations[Number(incident.slice(1)) % INTEGRATIONS];
    if (integration === undefined) throw new Error('no integration');
    const data = { id: incident, type: 'incident', title: 'slow', service: { summary: 'checkout-api' } };
    const body = { event: { event_type: 'incident.triggered', occurred_at: '2026-08-22T10:00:00Z', data } };
    const headers = { 'X-Webhook-Id': `delivery-of-${incident}` };
    return this.#site.server.http.post(webhookPath(integration), undefined, body, headers).then(
      ({ status }) => status === 202,
      () => false,
    );
  }
}

describe.concurrent('kill -9 between a webhook and its note', () => {
  it(
    `leaves one alert and one note an incident, in ${KILLS} kills`,
    clearing(async (made) => {
      const random = new Random(SEED, 'alerts');
      let site: Site | undefined;
      let moment: Moment = 'any time';
      let callsLeft = Number.POSITIVE_INFINITY;
      const die = async () => {
        callsLeft = Number.POSITIVE_INFINITY;
        await site?.server.signal('SIGKILL');
      };
      const pagerDuty = await startFakePagerDuty({
        onCall: async (when) => {
          if (when === 'read') callsLeft -= 1;
          if (callsLeft > 0) return true;
          if (when === 'read' && moment === 'call dropped') {
            await die();
            return false;
          }
          // It is dead, and its request is carried out all the same.
          if (when === 'read' && moment === 'call read') await die();
          if (when === 'carried-out' && moment === 'note made') await die();
          if (when === 'carried-out' && moment === 'answer sent') setTimeout(die, random.below(3));
          return true;
        },
      });
      made.push(() => pagerDuty.stop());
      site = newSite(made, '--pagerduty-api-url', pagerDuty.url);
      await site.start();
      await site.send('pod', { event_type: 'restart' });
      const config = { pagerduty_token: pagerDuty.token, pagerduty_from: pagerDuty.from };
      const integrations: IntegrationBody[] = [];
      for (let n = 0; n < INTEGRATIONS; n += 1) integrations.push(await integrate(site, 'pagerduty', config));
      const teller = new Teller(site, integrations);
      const died: Record<string, number> = {};

      for (let kill = 0; kill < KILLS; kill += 1) {
        moment = MOMENTS[kill % MOMENTS.length] ?? 'any time';
        const { server } = site;
        const telling = [teller.tell(), teller.tell()];
        if (moment === 'any time') setTimeout(die, random.between(1, 600));
        else callsLeft = random.between(1, 6);
        // Where no call comes any more, it dies all the same.
        const anyway = setTimeout(die, 3000);
        await server.exited;
        clearTimeout(anyway);
        await Promise.all(telling);
        died[moment] = (died[moment] ?? 0) + 1;
        await site.start();
      }
      await teller.tellTheRest();

      const { incidents } = teller;
      expect(incidents.length).toBeGreaterThan(KILLS);
      await eventually('all is sent', SETTLED_WITHIN_MS, async () => {
        const lists = await Promise.all(integrations.map((each) => deliveriesOf(site, each)));
        const all = lists.flat();
        return all.length === incidents.length && all.every(({ state }) => state === 'delivered');
      });
      expect(incidents.map((incident) => pagerDuty.notes(incident).length)).toEqual(incidents.map(() => 1));
      expect(pagerDuty.violations).toEqual([]);
      const pages = Math.ceil(incidents.length / 100);
      const keys: string[] = [];
      for (let page = 1; page <= pages; page += 1) {
        const list = bodyOf<{ alerts: { key: string; status: string }[] }>(
          await site.get(`/v1/alerts?per_page=100&page=${page}&status=firing`),
        );
        keys.push(...list.alerts.map(({ key }) => key));
      }
      expect(keys.sort()).toEqual([...incidents].sort());
      expect(await site.server.signal('SIGTERM')).toEqual({ code: 0, signal: null });
      const again = pagerDuty.calls.filter(({ method }) => method === 'GET').length;
      process.stderr.write(`${incidents.length} incidents, ${again} looked for, ${JSON.stringify(died)}\n`);
    }),
    60_000 + SETTLED_WITHIN_MS + KILLS * 6000,
  );
});

interface TakenAlert {
  readonly startsAt: string;
  readonly endsAt: string;
  readonly labels: object;
}

/** Takes alerts as Alertmanager does, and does something first. */
async function startTaker(made: StopStack, onTaken: () => Promise<void>) {
  const taken: TakenAlert[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    taken.push(...(JSON.parse(Buffer.concat(chunks).toString()) as TakenAlert[]));
    await onTaken();
    response.writeHead(200).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  made.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { taken, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe.concurrent('kill -9 while an agent is silent', () => {
  it(
    'tells of its silence once and of its return once',
    { timeout: 90_000 },
    clearing(async (made) => {
      const site = newSite(made, '--agent-stale-after', '1s');
      let deadly = true;
      const { taken, url } = await startTaker(made, async () => {
        if (deadly) await site.server.signal('SIGKILL');
      });
      await site.start();
      const integration = await integrate(site, 'alertmanager', { alertmanager_url: url });
      const kinds = async () => (await deliveriesOf(site, integration)).map(({ kind }) => kind).sort();

      // It dies as it tells of it: nobody knows whether that was heard.
      await site.server.exited;
      expect(taken).toHaveLength(1);
      deadly = false;
      for (let kill = 0; kill < 3; kill += 1) {
        await site.start();
        await sleep(300 + 600 * kill);
        expect(await kinds()).toEqual(['agent-stale']);
        await site.server.signal('SIGKILL');
      }
      await site.start();
      expect((await site.send('back')).outcome).toBe('acknowledged');
      expect(await kinds()).toEqual(['agent-returned', 'agent-stale']);
      await site.server.signal('SIGKILL');
      await site.start();
      await eventually('it is told of the return', 30_000, () => {
        const last = taken.at(-1);
        return last !== undefined && Date.parse(last.endsAt) <= Date.now();
      });
      expect(taken.at(-1)?.labels).toEqual(taken[0]?.labels);
      expect(taken.at(-1)?.startsAt).toBe(taken[0]?.startsAt);
      // Since the return it has been silent again, which is another silence.
      const spells = new Set(taken.map(({ startsAt }) => startsAt));
      const stale = (await kinds()).filter((kind) => kind === 'agent-stale');
      expect(stale.length).toBeLessThanOrEqual(2);
      expect(spells.size).toBeLessThanOrEqual(2);
    }),
  );
});
