/** POST /v1/events/batch: every event judged by itself, those that are good taken as one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Answer,
  bodyOf,
  eventBody,
  expectRefusal,
  type Headers,
  type Tenant,
  TestServer,
} from '../support/http.ts';
import type { AgentBody } from './bodies.ts';
import { eventLog, register, windowOf } from './operations.ts';

const NDJSON: Headers = { 'Content-Type': 'application/x-ndjson' };

let server: TestServer;
let tenant: Tenant;
let agent: AgentBody;

beforeAll(async () => {
  server = await TestServer.start('--max-batch-bytes', '8000000');
  tenant = server.tenant;
  agent = await register(server, tenant.ingest);
});
afterAll(() => server.stop());

const post = (body: object | string | Buffer, headers: Headers = {}, key = tenant.ingest): Promise<Answer> =>
  server.http.post('/v1/events/batch', key, body, headers);
const lines = (...events: readonly (object | string)[]): string =>
  events.map((event) => (typeof event === 'string' ? event : JSON.stringify(event))).join('\n');
const named = (service: string, entity: string) => ({ ...eventBody(), service_name: service, entity });
const entitiesOf = async (service: string): Promise<unknown> =>
  (await windowOf(server, tenant.readOnly, service)).deploy_events.map(({ entity }) => entity);
const total = async (): Promise<number> => (await eventLog(server, tenant.readOnly, agent.id)).total;

describe('POST /v1/events/batch', () => {
  it('takes a JSON array, in order', async () => {
    const answer = await post([named('array', 'a'), named('array', 'b'), named('array', 'c')]);
    expect(answer.status).toBe(200);
    expect(bodyOf(answer)).toEqual({ accepted: 3, rejected: [] });
    expect(await entitiesOf('array')).toEqual(['c', 'b', 'a']);
  });

  it('takes an event a line, blank lines and a last line without its end being let be', async () => {
    const text = `\n${lines(named('lines', 'a'), '', ' ', named('lines', 'b'))}\r\n${lines(named('lines', 'c'))}`;
    expect(bodyOf(await post(text, NDJSON))).toEqual({ accepted: 3, rejected: [] });
    expect(await entitiesOf('lines')).toEqual(['c', 'b', 'a']);
  });

  it('says of each event that is wrong what a request of its own would have been told, and takes the others', async () => {
    const bad = [
      { ...named('mixed', 'x'), confidence: 2 },
      { ...named('mixed', 'x'), ttl_seconds: 0 },
      { ...named('mixed', 'x'), service_name: '' },
      { ...named('mixed', 'x'), event_type: 'party' },
      [],
      null,
    ];
    const details = await Promise.all(
      bad.map(
        async (event) => (await server.http.post('/v1/events', tenant.ingest, JSON.stringify(event))).text,
      ),
    );
    const events = [named('mixed', 'a'), ...bad, named('mixed', 'b')];
    const rejected = details.map((detail, index) => ({ index: index + 1, detail }));
    expect(bodyOf(await post(events))).toEqual({ accepted: 2, rejected });
    expect(bodyOf(await post(lines(...events.map((event) => JSON.stringify(event))), NDJSON))).toEqual({
      accepted: 2,
      rejected,
    });
    expect(await entitiesOf('mixed')).toEqual(['b', 'a', 'b', 'a']);
  });

  it('loses no neighbour of a line that is no JSON', async () => {
    const text = lines(
      named('torn', 'a'),
      '{"service_name":',
      `${lines(named('torn', 'x'))} {}`,
      named('torn', 'b'),
    );
    expect(bodyOf(await post(text, NDJSON))).toEqual({
      accepted: 2,
      rejected: [
        { index: 1, detail: expect.stringMatching(/^the body is not valid JSON/) },
        { index: 2, detail: expect.stringMatching(/^the body is not valid JSON/) },
      ],
    });
  });

  it('without a media type tells by the first byte which of the two it is', async () => {
    const untyped = { 'Content-Type': '' };
    expect(bodyOf(await post(` ${JSON.stringify([named('untyped', 'a')])}`, untyped))).toMatchObject({
      accepted: 1,
    });
    expect(bodyOf(await post(lines(named('untyped', 'b')), untyped))).toMatchObject({ accepted: 1 });
  });

  it('of nothing is taken, and changes nothing', async () => {
    const before = await total();
    expect(bodyOf(await post([]))).toEqual({ accepted: 0, rejected: [] });
    expect(bodyOf(await post('\n', NDJSON))).toEqual({ accepted: 0, rejected: [] });
    expect(await total()).toBe(before);
  });

  it('holds 10 000 events at most', async () => {
    const before = await total();
    const many = Array.from({ length: 10_001 }, (_, n) => named('many', `e${n}`));
    const detail = 'a batch holds at most 10000 events';
    expectRefusal(await post(many), 413, detail);
    expectRefusal(await post(lines(...many), NDJSON), 413, detail);
    // One of them not plain, so that it goes the long way.
    expectRefusal(await post([...many.slice(1), { ...named('many', 'x'), extra: 1 }]), 413, detail);
    expect(await total()).toBe(before);
    expect(bodyOf(await post(many.slice(1)))).toEqual({ accepted: 10_000, rejected: [] });
    expect(await total()).toBe(before + 10_000);
    expect((await windowOf(server, tenant.readOnly, 'many')).deploy_events).toHaveLength(10_000);
  });

  it.each([
    ['an object', JSON.stringify(eventBody())],
    ['text', '"x"'],
  ])('that says it is JSON and is %s is refused', async (_, body) => {
    const detail = 'the body must be a JSON array of events, or an event a line (application/x-ndjson)';
    expectRefusal(await post(body), 400, detail);
  });

  it('that is not JSON, of another type or too large is refused as a whole', async () => {
    const before = await total();
    const open = `[${JSON.stringify(named('x', 'x'))}`;
    const detail = `the body is not valid JSON, at character ${open.length + 1}`;
    expectRefusal(await post(open), 400, detail);
    expectRefusal(
      await post('a,b', { 'Content-Type': 'text/csv' }),
      415,
      'the body must be JSON (application/json), or an event a line (application/x-ndjson)',
    );
    expectRefusal(await post('x'.repeat(8_000_001), NDJSON), 413, 'the body is larger than 8000000 bytes');
    expect(await total()).toBe(before);
  });

  it('is refused to who has not registered, whatever is in it', async () => {
    const [row] = await server.newKeys(tenant.name, 'ingest');
    const key = row?.key ?? '';
    expectRefusal(await post([named('x', 'x')], {}, key), 403, 'agent not registered');
    expectRefusal(await post([{}], {}, key), 403, 'agent not registered');
    expectRefusal(await post([named('x', 'x')], {}, tenant.readOnly), 403, 'an ingest key is required');
  });
});
