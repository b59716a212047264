/** `Idempotency-Key` on events and batches: the first answer again, and nothing changed. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Answer,
  bodyOf,
  eventBody,
  expectRefusal,
  HttpClient,
  type Tenant,
  TestServer,
} from '../support/http.ts';
import { rawRequest, withConnection } from '../support/raw-socket.ts';
import { removeDirectory, startServer, temporaryDirectory } from '../support/server.ts';
import type { AgentBody } from './bodies.ts';
import { eventLog, register } from './operations.ts';

const REUSED = 'the Idempotency-Key was used with another payload';
const BAD_KEY = 'Idempotency-Key must be given once, as 1 to 255 visible ASCII characters';

describe.each(['write', 'fsync'])('with --durability %s', (durability) => {
  let server: TestServer;
  let tenant: Tenant;
  let agent: AgentBody;

  beforeAll(async () => {
    server = await TestServer.start('--durability', durability);
    tenant = server.tenant;
    agent = await register(server, tenant.ingest);
  });
  afterAll(() => server.stop());

  const total = async () => (await eventLog(server, tenant.readOnly, agent.id)).total;
  const post = (path: string, key: string, body: object | string, headers = {}): Promise<Answer> =>
    server.http.post(path, tenant.ingest, body, { 'Idempotency-Key': key, ...headers });
  const isReplay = ({ headers }: Answer) => headers['idempotent-replayed'] === 'true';

  it('an event that is sent again is answered as it was, and recorded once', async () => {
    const before = await total();
    const everything = async () => {
      const answer = await post('/v1/events', 'event-1', eventBody());
      expect(answer).toMatchObject({ status: 201, text: '' });
      return isReplay(answer);
    };
    expect([await everything(), await everything(), await everything()]).toEqual([false, true, true]);
    expect(await total()).toBe(before + 1);
  });

  it('a retry changes nothing that anybody can read', async () => {
    await post('/v1/events', 'event-2', eventBody());
    const before = await server.everything(tenant);
    expect(isReplay(await post('/v1/events', 'event-2', eventBody()))).toBe(true);
    expect(await server.everything(tenant)).toEqual(before);
  });

  it('a batch that is sent again gets the first answer, with what was wrong in it', async () => {
    const before = await total();
    const batch = [eventBody(), eventBody({ confidence: 2 }), eventBody()];
    const first = await post('/v1/events/batch', 'batch-1', batch);
    const second = await post('/v1/events/batch', 'batch-1', batch);
    expect(bodyOf(first)).toEqual({
      accepted: 2,
      rejected: [{ index: 1, detail: 'confidence must be between 0 and 1' }],
    });
    expect([second.status, second.text]).toEqual([200, first.text]);
    expect([isReplay(first), isReplay(second)]).toEqual([false, true]);
    expect(await total()).toBe(before + 2);
  });

  it('a key that is used with another payload is 422, on the same path or the other', async () => {
    await post('/v1/events', 'reused', eventBody());
    const before = await server.everything(tenant);
    expectRefusal(await post('/v1/events', 'reused', eventBody({ entity: 'another' })), 422, REUSED);
    expectRefusal(await post('/v1/events/batch', 'reused', [eventBody()]), 422, REUSED);
    const line = JSON.stringify(eventBody());
    const ndjson = { 'Content-Type': 'application/x-ndjson' };
    expectRefusal(await post('/v1/events/batch', 'reused', line, ndjson), 422, REUSED);
    expect(await server.everything(tenant)).toEqual(before);
  });

  it('a key is its own agent’s', async () => {
    const [row] = await server.newKeys(tenant.name, 'ingest');
    const key = row?.key ?? '';
    await register(server, key, { hostname: 'another' });
    await post('/v1/events', 'own', eventBody());
    const answer = await server.http.post('/v1/events', key, eventBody({ entity: 'x' }), {
      'Idempotency-Key': 'own',
    });
    expect([answer.status, isReplay(answer)]).toEqual([201, false]);
  });

  it('what was refused is not remembered: sent again put right, it is carried out', async () => {
    expectRefusal(await post('/v1/events', 'wrong', eventBody({ confidence: 2 })), 400, /confidence/);
    expect(isReplay(await post('/v1/events', 'wrong', eventBody()))).toBe(false);
    const nothing = await post('/v1/events/batch', 'nothing', [eventBody({ confidence: 2 })]);
    expect(bodyOf(nothing)).toMatchObject({ accepted: 0 });
    expect(isReplay(await post('/v1/events/batch', 'nothing', [eventBody()]))).toBe(false);
  });

  it.each([
    ['nothing', ''],
    ['a space within', 'a b'],
    ['256 characters', 'k'.repeat(256)],
    ['a letter that is not ASCII', Buffer.from('é').toString('latin1')],
  ])('a key that is %s is 400', async (_, key) => {
    const before = await total();
    expectRefusal(await post('/v1/events', key, eventBody()), 400, BAD_KEY);
    expectRefusal(await post('/v1/events/batch', key, [eventBody()]), 400, BAD_KEY);
    expect(await total()).toBe(before);
  });

  it('a key given twice is 400, and one of 255 characters is none too long', async () => {
    const body = JSON.stringify(eventBody());
    await withConnection(server.process.port, async (connection) => {
      const lines = ['Idempotency-Key: a', 'Idempotency-Key: a'];
      await connection.send(
        rawRequest({ method: 'POST', path: '/v1/events', key: tenant.ingest, lines, body }),
      );
      expect(await connection.answer()).toMatchObject({ status: 400, body: BAD_KEY });
    });
    expect((await post('/v1/events', 'k'.repeat(255), eventBody())).status).toBe(201);
  });

  it('retries that come at once are each answered 201, and one of them is carried out', async () => {
    const before = await total();
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => post('/v1/events', `at-once-${round}`, eventBody())),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
      expect(answers.filter((answer) => !isReplay(answer))).toHaveLength(1);
    }
    expect(await total()).toBe(before + 5);
  });
});

it('a key is known to the next process of the data directory, though the one before was killed', async () => {
  const directory = temporaryDirectory();
  try {
    const first = await startServer(directory);
    const send = async (port: number, path: string, body: object): Promise<Answer> => {
      const http = new HttpClient(port);
      const answer = await http.post(path, first.ingestKey, body, { 'Idempotency-Key': 'kept' });
      http.close();
      return answer;
    };
    await send(first.port, '/v1/agents/register', { hostname: 'db-1' });
    expect((await send(first.port, '/v1/events', eventBody())).headers).not.toHaveProperty(
      'idempotent-replayed',
    );
    await first.kill();
    const second = await startServer(directory);
    expect(await send(second.port, '/v1/events', eventBody())).toMatchObject({
      status: 201,
      headers: { 'idempotent-replayed': 'true' },
    });
    expect(await second.stop()).toBe(0);
  } finally {
    removeDirectory(directory);
  }
});
