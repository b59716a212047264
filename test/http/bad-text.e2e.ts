/** Text and times, hostile or just odd: what is taken comes back as it was sent, what is refused changes nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventBody, expectRefusal, type Tenant, TestServer } from '../support/http.ts';
import type { AgentBody, StoredEvent } from './bodies.ts';
import { eventLog, register, sendEvent, serviceNamed, windowOf } from './operations.ts';

const HOSTILE_TEXT = [
  'NUL \0 in the middle, and at the end\0',
  '🚢 𝄞 👩‍👩‍👧‍👦 characters of four bytes',
  '"quotes" and \\backslashes\\',
  "'; DROP TABLE events; --",
  '<script>alert(1)</script>',
  '\r\nX-Evil: 1\r\n\r\nHTTP/1.1 200 OK',
  '\u202eright to left\u202c',
  '\ufeffbyte order mark',
  '\u2028line\u2029separators',
  '\uffff\ufffe\ufdd0 noncharacters',
  'é e\u0301 composed and not',
  '{{7*7}} #{7*7} %s %n',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'null',
  ' blank at both ends ',
  '\t\n',
];

let server: TestServer;
let tenant: Tenant;
let agent: AgentBody;

beforeAll(async () => {
  server = await TestServer.start();
  tenant = server.tenant;
  agent = await register(server, tenant.ingest);
  await sendEvent(server, tenant.ingest);
});
afterAll(() => server.stop());

const post = (body: object | string) => server.http.post('/v1/events', tenant.ingest, body);

async function expectRefused(body: object | string, sentence: string | RegExp): Promise<void> {
  const before = await server.everything(tenant);
  expectRefusal(await post(body), 400, sentence);
  expect(await server.everything(tenant)).toEqual(before);
}

/** The event as the log shows it, once taken. */
async function taken(fields: Readonly<Record<string, unknown>>): Promise<StoredEvent> {
  await sendEvent(server, tenant.ingest, fields);
  const [event] = (await eventLog(server, tenant.readOnly, agent.id)).events;
  if (event === undefined) throw new Error('the event log is empty');
  return event;
}

describe('text', () => {
  it.each(HOSTILE_TEXT)('comes back as it was sent: %j', async (text) => {
    const values = { entity: text, old_value: text, new_value: text, actor: text, sha: text };
    expect(await taken({ service_name: text, vendor: text, ...values })).toMatchObject({
      vendor: text,
      ...values,
    });
    expect((await serviceNamed(server, tenant.readOnly, text)).name).toBe(text);
    const shown = await windowOf(server, tenant.readOnly, text);
    expect(shown).toMatchObject({ service: text, deploy_events: [{ vendor: text, ...values }] });
    const query = `?service=${encodeURIComponent(text)}&vendor=${encodeURIComponent(text)}`;
    const log = await eventLog(server, tenant.readOnly, agent.id, query);
    expect(log).toMatchObject({ total: 1, filter_service: text, filter_vendor: text });
  });

  it.each(HOSTILE_TEXT)('names an agent as it was sent: %j', async (text) => {
    const body = { hostname: text, name: text, version: text };
    const answer = await server.http.post('/v1/agents/register', tenant.ingest, body);
    expect(answer.status).toBe(201);
    expect(JSON.parse(answer.text)).toMatchObject({ hostname: text, name: text, agent_version: text });
    expect(answer.headers).not.toHaveProperty('x-evil');
    const log = await eventLog(server, tenant.readOnly, agent.id);
    expect(log.agent).toMatchObject({ hostname: text, name: text, agent_version: text });
  });

  it.each([
    ['service_name', 512],
    ['vendor', 512],
    ['entity', 512],
    ['actor', 512],
    ['sha', 128],
    ['old_value', 4096],
    ['new_value', 4096],
    ['raw_line', 8192],
  ])('of %s is taken at %i characters, and refused past that', async (field, longest) => {
    await sendEvent(server, tenant.ingest, { [field]: 'é'.repeat(longest) });
    await expectRefused(eventBody({ [field]: 'x'.repeat(longest + 1) }), new RegExp(`${field}.*${longest}`));
    await expectRefused(eventBody({ [field]: 'x'.repeat(50_000) }), new RegExp(field));
  });

  it('of every field at its longest, in characters of three bytes, is one event', async () => {
    const wide = (length: number) => '漢'.repeat(length);
    const names = { service_name: wide(512), vendor: wide(512), entity: wide(512), actor: wide(512) };
    const values = { sha: wide(128), old_value: wide(4096), new_value: wide(4096) };
    expect(await taken({ ...names, ...values, raw_line: wide(8192) })).toMatchObject({ ...names, ...values });
  });
});

describe('timestamp', () => {
  it.each([
    ['2026-08-22T10:00:00Z', '2026-08-22T10:00:00.000Z'],
    ['2026-08-22T10:00:00.5Z', '2026-08-22T10:00:00.500Z'],
    ['2026-08-22T10:00:00.123456789Z', '2026-08-22T10:00:00.123Z'],
    ['2026-08-22T10:00:00.999999999Z', '2026-08-22T10:00:00.999Z'],
    ['2026-08-22T10:00:00+02:00', '2026-08-22T08:00:00.000Z'],
    ['2026-08-22T10:00:00-09:30', '2026-08-22T19:30:00.000Z'],
    ['2026-08-22T10:00:00+00:00', '2026-08-22T10:00:00.000Z'],
    ['2026-08-22T23:59:59-23:59', '2026-08-23T23:58:59.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29T12:00:00Z', '2000-02-29T12:00:00.000Z'],
    ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['2999-01-01T00:00:00Z', '2999-01-01T00:00:00.000Z'],
  ])('%s is the moment %s', async (sent, moment) => {
    const event = await taken({ timestamp: sent });
    expect(event.timestamp).toBe(moment);
    // When it came in and when it expires is the server's to say.
    expect(Math.abs(Date.parse(event.received_at) - Date.now())).toBeLessThan(60_000);
  });

  it.each([
    ['no zone', '2026-08-22T10:00:00'],
    ['no time', '2026-08-22'],
    ['no date', '10:00:00Z'],
    ['a blank for the T', '2026-08-22 10:00:00Z'],
    ['a zone by name', '2026-08-22T10:00:00 UTC'],
    ['30 February', '2026-02-30T10:00:00Z'],
    ['29 February of a common year', '2025-02-29T10:00:00Z'],
    ['29 February of a common century', '1900-02-29T10:00:00Z'],
    ['31 April', '2026-04-31T10:00:00Z'],
    ['month 13', '2026-13-01T10:00:00Z'],
    ['month 0', '2026-00-10T10:00:00Z'],
    ['day 0', '2026-01-00T10:00:00Z'],
    ['hour 24', '2026-08-22T24:00:00Z'],
    ['minute 60', '2026-08-22T10:60:00Z'],
    ['a leap second', '2016-12-31T23:59:60Z'],
    ['an offset of 24 hours', '2026-08-22T10:00:00+24:00'],
    ['an offset of 99 minutes', '2026-08-22T10:00:00+01:99'],
    ['the year 0', '0000-06-01T00:00:00Z'],
    ['the year 10000', '10000-01-01T00:00:00Z'],
    ['the year +10000', '+010000-01-01T00:00:00Z'],
    ['the year 10000 by its offset', '9999-12-31T23:59:59-00:01'],
    ['the year 0 by its offset', '0001-01-01T00:00:00+00:01'],
    ['a year before Christ', '-000001-01-01T00:00:00Z'],
    ['digits that are not ASCII', '２０２６-08-22T10:00:00Z'],
    ['a comma', '2026-08-22T10:00:00,5Z'],
    ['a point without digits', '2026-08-22T10:00:00.Z'],
    ['a week', '2026-W34-6T10:00:00Z'],
    ['a day of the year', '2026-234T10:00:00Z'],
    ['blanks around it', ' 2026-08-22T10:00:00Z '],
    ['a line end after it', '2026-08-22T10:00:00Z\n'],
    ['NUL after it', '2026-08-22T10:00:00Z\0'],
    ['the Unix time', '1787392800'],
    ['nothing', ''],
    ['a word', 'now'],
    ["another country's writing", '08/22/2026 10:00'],
  ])('is refused, and named: %s', (_, timestamp) => expectRefused(eventBody({ timestamp }), /timestamp/));
});
