/** GET /v1/agents/{id}: one agent, and its event log by pages and filters. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal, type Tenant, TestServer } from '../support/http.ts';
import { type AgentBody, type EventLogBody, UTC_TIME, UUID } from './bodies.ts';
import { eventLog, register, sendEvent } from './operations.ts';

const EVENTS = 25;
const SERVICES = ['checkout api', 'payments', 'Über+uns&mehr=🚢'];
const VENDORS = ['argocd', 'kubernetes'];
const TYPES = ['deploy', 'restart', 'flag_change'];

let server: TestServer;
let tenant: Tenant;
let agent: AgentBody;

beforeAll(async () => {
  server = await TestServer.start();
  tenant = server.tenant;
  agent = await register(server, tenant.ingest);
  for (let n = 0; n < EVENTS; n += 1) {
    await sendEvent(server, tenant.ingest, {
      service_name: SERVICES[n % SERVICES.length],
      vendor: VENDORS[n % VENDORS.length],
      event_type: TYPES[n % TYPES.length],
      entity: `entity-${n}`,
    });
  }
});
afterAll(() => server.stop());

const page = (query = '') => eventLog(server, tenant.readOnly, agent.id, query);
const refused = (query: string) => server.http.get(`/v1/agents/${agent.id}${query}`, tenant.readOnly);
const numbers = (log: EventLogBody) => log.events.map(({ entity }) => Number(entity.replace('entity-', '')));
/** The numbers of the events that `matches`, newest first. */
const newestFirst = (matches: (n: number) => boolean = () => true) =>
  Array.from({ length: EVENTS }, (_, n) => EVENTS - 1 - n).filter(matches);

describe('the event log of an agent', () => {
  it('comes with the agent, the newest ten events, and the totals', async () => {
    const log = await page();
    expect(log).toEqual({
      agent: { ...agent, last_seen_at: log.agent.last_seen_at },
      events: log.events,
      page: 1,
      per_page: 10,
      total_pages: 3,
      total: EVENTS,
      filter_services: [...SERVICES].sort(),
      filter_vendors: [...VENDORS].sort(),
      filter_service: null,
      filter_vendor: null,
      filter_event_type: null,
      events_by_minute: expect.any(Array),
    });
    expect(numbers(log)).toEqual(newestFirst().slice(0, 10));
  });

  it('gives every event an id of its own that sorts by receipt', async () => {
    const ids = (await page('?per_page=100')).events.map(({ id }) => id);
    for (const id of ids) expect(id).toMatch(UUID);
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
    for (const id of ids) expect(id[14]).toBe('7');
  });

  it('gives back what was sent, null where nothing was, and never the raw line', async () => {
    const full = {
      service_name: 'full',
      vendor: 'v',
      entity: 'e',
      event_type: 'deploy',
      old_value: 'old',
      new_value: 'new',
      actor: 'somebody',
      sha: '0123abcd',
      confidence: 0.1,
      ttl_seconds: 7,
      timestamp: '2026-08-22T12:00:00+02:00',
      raw_line: 'a raw line that stays on the box',
    };
    const { ingest, readOnly } = await server.newTenant('full-events');
    const { id } = await register(server, ingest);
    await sendEvent(server, ingest, full);
    await sendEvent(server, ingest, { service_name: 'bare', confidence: 1, ttl_seconds: 60 });
    const { events } = await eventLog(server, readOnly, id);
    const [bare, stored] = events;
    const { raw_line, ...rest } = full;
    expect(stored).toEqual({
      ...rest,
      id: expect.stringMatching(UUID),
      timestamp: '2026-08-22T10:00:00.000Z',
      received_at: expect.stringMatching(UTC_TIME),
      expires_at: new Date(Date.parse(stored?.received_at ?? '') + 7000).toISOString(),
    });
    expect(bare).toMatchObject({ old_value: null, new_value: null, actor: null, sha: null });
    expect(bare?.timestamp).toBe(bare?.received_at);
    for (const text of await server.everything({ ...tenant, readOnly })) expect(text).not.toContain(raw_line);
  });

  it.each([10, 20, 50, 100])('comes %i to a page', async (perPage) => {
    const log = await page(`?per_page=${perPage}`);
    expect(log).toMatchObject({ per_page: perPage, total: EVENTS, total_pages: Math.ceil(EVENTS / perPage) });
    expect(numbers(log)).toEqual(newestFirst().slice(0, perPage));
  });

  it('goes on where the page before ended', async () => {
    expect(numbers(await page('?page=2'))).toEqual(newestFirst().slice(10, 20));
    expect(numbers(await page('?page=3&per_page=10'))).toEqual(newestFirst().slice(20));
    expect(numbers(await page('?page=2&per_page=20'))).toEqual(newestFirst().slice(20));
  });

  it.each(['4', '1000000', '999999999'])('is empty on page %s, past the end, with true totals', async (n) => {
    const log = await page(`?page=${n}`);
    expect(log).toMatchObject({ events: [], page: Number(n), total: EVENTS, total_pages: 3 });
  });

  it.each([
    '0',
    '1',
    '9',
    '11',
    '15',
    '101',
    '-10',
    '10.5',
    'ten',
    '',
    '1e1',
    '0x0a',
    'NaN',
    '%2B10',
    '10%00',
  ])('is refused at %j to a page, naming per_page', async (value) =>
    expectRefusal(await refused(`?per_page=${value}`), 400, /per_page/),
  );

  it.each([
    '0',
    '-1',
    '1.5',
    'one',
    '',
    '1e1',
    '0x1',
    'Infinity',
    '%2B1',
    '%EF%BC%91',
    '99999999999999999999',
  ])('is refused as page %j, naming page', async (value) =>
    expectRefusal(await refused(`?page=${value}`), 400, /\bpage\b/),
  );

  it.each(['Deploy', 'deploys', 'deploy,restart', '*', '__proto__', 'deploy%00'])(
    'is refused for event type %j, naming event_type',
    async (value) => expectRefusal(await refused(`?event_type=${value}`), 400, /event_type/),
  );

  it('is filtered by service, however its name is encoded', async () => {
    for (const [index, service] of SERVICES.entries()) {
      const matching = newestFirst((n) => n % SERVICES.length === index);
      for (const value of [
        encodeURIComponent(service),
        new URLSearchParams({ s: service }).toString().slice(2),
      ]) {
        const log = await page(`?service=${value}&per_page=50`);
        expect(numbers(log)).toEqual(matching);
        expect(log).toMatchObject({
          total: matching.length,
          total_pages: 1,
          filter_service: service,
          filter_services: [...SERVICES].sort(),
          filter_vendors: [...VENDORS].sort(),
        });
      }
    }
  });

  it('is filtered by vendor, by event type, and by all at once', async () => {
    const kubernetes = await page('?vendor=kubernetes&per_page=50');
    expect(numbers(kubernetes)).toEqual(newestFirst((n) => n % 2 === 1));
    expect(kubernetes).toMatchObject({ filter_vendor: 'kubernetes', filter_service: null });

    const restarts = await page('?event_type=restart&per_page=50');
    expect(numbers(restarts)).toEqual(newestFirst((n) => n % 3 === 1));
    expect(restarts.filter_event_type).toBe('restart');

    const all = await page('?vendor=kubernetes&event_type=restart&service=payments&per_page=10&page=1');
    expect(numbers(all)).toEqual(newestFirst((n) => n % 2 === 1 && n % 3 === 1));
    expect(numbers(await page('?event_type=restart&service=checkout%20api'))).toEqual([]);
  });

  it('is filtered before it is cut into pages', async () => {
    const matching = newestFirst((n) => n % 2 === 0);
    const log = await page('?vendor=argocd&page=2');
    expect(numbers(log)).toEqual(matching.slice(10));
    expect(log).toMatchObject({ total: matching.length, total_pages: 2 });
  });

  it.each(['service', 'vendor'])('is empty for a %s that sent nothing', async (name) => {
    const log = await page(`?${name}=PAYMENTS`);
    expect(log).toMatchObject({ events: [], total: 0, total_pages: 0, [`filter_${name}`]: 'PAYMENTS' });
    expect(log.filter_services).toEqual([...SERVICES].sort());
  });

  it('minds no parameter that it does not know', async () => {
    expect(await page('?foo=1&__proto__=2&PER_PAGE=7&&=&%')).toMatchObject({ total: EVENTS, per_page: 10 });
  });

  it('is found by the id in capitals, and under no other spelling of it', async () => {
    const { id } = agent;
    const get = (path: string) => server.http.get(path, tenant.readOnly);
    expect((await get(`/v1/agents/${id.toUpperCase()}`)).status).toBe(200);
    for (const other of [`{${id}}`, `urn:uuid:${id}`, id.replaceAll('-', ''), `${id}%20`]) {
      expectRefusal(await get(`/v1/agents/${encodeURI(other)}`), 404, 'not found');
    }
  });
});
