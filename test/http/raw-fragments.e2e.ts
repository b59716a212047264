/** However the network cuts a request into pieces, it is the same request. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventBody, type Tenant, TestServer } from '../support/http.ts';
import { type RawAnswer, RawConnection, type RawRequest, rawRequest } from '../support/raw-socket.ts';
import type { AgentBody } from './bodies.ts';
import { eventLog, register, windowOf } from './operations.ts';

/** Requests go out on this many connections at once, one after another on each. */
const CONNECTIONS = 8;
const CHUNKED = 'Transfer-Encoding: chunked';

let server: TestServer;
let tenant: Tenant;
let agent: AgentBody;

beforeAll(async () => {
  server = await TestServer.start();
  tenant = server.tenant;
  agent = await register(server, tenant.ingest);
});
afterAll(() => server.stop());

const recorded = async (service: string) =>
  (await eventLog(server, tenant.readOnly, agent.id, `?service=${service}`)).total;

function eventRequest(service: string, entity: string, more: Partial<RawRequest> = {}): string {
  const body = JSON.stringify(eventBody({ service_name: service, entity }));
  return rawRequest({ method: 'POST', path: '/v1/events', key: tenant.ingest, body, ...more });
}

/** A number written so that all are of one length. */
const padded = (n: number) => String(n).padStart(4, '0');

/**
 * Sends the same kind of request once for every offset, cut in two there, and gives the answers by offset.
 * `requestAt` must give requests of one length.
 */
async function splitEverywhere(
  requestAt: (offset: number) => string,
  answersEach = 1,
): Promise<readonly (readonly RawAnswer[])[]> {
  const { length } = requestAt(0);
  const answers: RawAnswer[][] = [];
  let next = 1;
  const work = async () => {
    const connection = await RawConnection.open(server.process.port);
    for (let offset = next++; offset < length; offset = next++) {
      const request = requestAt(offset);
      expect(request).toHaveLength(length);
      await connection.sendPieces([request.slice(0, offset), request.slice(offset)]);
      const got: RawAnswer[] = [];
      for (let n = 0; n < answersEach; n += 1) {
        got.push(await answerOf(connection, `split at ${JSON.stringify(request.slice(offset - 9, offset))}`));
      }
      answers[offset] = got;
    }
    connection.destroy();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  // A sparse array would let a missing answer pass.
  return Array.from({ length: length - 1 }, (_, index) => answers[index + 1] ?? []);
}

async function answerOf(connection: RawConnection, where: string): Promise<RawAnswer> {
  try {
    return await connection.answer();
  } catch (error) {
    throw new Error(`${where}: ${String(error)}`);
  }
}

/** Every one of these events was recorded, once. */
async function expectAllRecorded(service: string, count: number): Promise<void> {
  expect(await recorded(service)).toBe(count);
  const { deploy_events } = await windowOf(server, tenant.readOnly, service);
  const entities = Array.from({ length: count }, (_, index) => padded(index + 1));
  expect(deploy_events.map(({ entity }) => entity).sort()).toEqual(entities);
}

describe('a request cut in two', () => {
  it('is answered 201 wherever a POST /v1/events is cut', async () => {
    const answers = await splitEverywhere((offset) => eventRequest('cut', padded(offset)));
    for (const [answer] of answers) expect(answer).toMatchObject({ status: 201, body: '' });
    await expectAllRecorded('cut', answers.length);
  });

  it('is answered 200 wherever a GET is cut', async () => {
    const path = `/v1/agents/${agent.id}?per_page=10&page=1&service=cut`;
    const lines = ['Accept: application/json', 'User-Agent: a-test/1.0 (cut)'];
    const answers = await splitEverywhere(() => rawRequest({ path, key: tenant.readOnly, lines }));
    const [first] = answers[0] ?? [];
    expect(JSON.parse(first?.body ?? '')).toMatchObject({ per_page: 10, filter_service: 'cut' });
    for (const [answer] of answers) expect(answer).toMatchObject({ status: 200, body: first?.body });
  });

  it('is answered 201 wherever a chunked POST /v1/events is cut', async () => {
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
    const request = (offset: number) => {
      const body = JSON.stringify(eventBody({ service_name: 'cut-chunks', entity: padded(offset) }));
      const chunks = [body.slice(0, 1), body.slice(1, 30), body.slice(30)].map(chunk).join('');
      return eventRequest('', '', { lines: [CHUNKED], body: `${chunks}0\r\n\r\n` });
    };
    const answers = await splitEverywhere(request);
    for (const [answer] of answers) expect(answer).toMatchObject({ status: 201, body: '' });
    await expectAllRecorded('cut-chunks', answers.length);
  });

  it('is refused with 401 wherever it is cut, and the connection goes on', async () => {
    const answers = await splitEverywhere((offset) =>
      eventRequest('cut-401', padded(offset), { key: 'nobody' }),
    );
    for (const [answer] of answers) expect(answer?.status).toBe(401);
    expect(await recorded('cut-401')).toBe(0);
  });

  it('is answered 400 wherever one with an empty body is cut', async () => {
    const empty = [{ body: '' }, {}, { lines: [CHUNKED], body: '0\r\n\r\n' }];
    for (const more of empty) {
      const request = rawRequest({ method: 'POST', path: '/v1/events', key: tenant.ingest, ...more });
      const answers = await splitEverywhere(() => request);
      for (const [answer] of answers)
        expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('JSON') });
    }
  });

  it('is answered in order wherever two that come together are cut', async () => {
    const request = (offset: number) =>
      eventRequest('cut-pairs', padded(offset)) + rawRequest({ path: '/v1/services', key: tenant.readOnly });
    const answers = await splitEverywhere(request, 2);
    for (const pair of answers) expect(pair.map(({ status }) => status)).toEqual([201, 200]);
    await expectAllRecorded('cut-pairs', answers.length);
  });
});

describe('a request in many pieces', () => {
  async function sendPieces(pieces: readonly string[]): Promise<RawAnswer> {
    const connection = await RawConnection.open(server.process.port);
    await connection.sendPieces(pieces, 0);
    const answer = await connection.answer();
    expect(await connection.remainder(20)).toBe('');
    connection.destroy();
    return answer;
  }

  it('is answered when it comes a byte at a time', async () => {
    expect(await sendPieces([...eventRequest('bytewise', 'head-and-body')])).toMatchObject({ status: 201 });
    const get = rawRequest({ path: '/v1/services', key: tenant.readOnly });
    expect(await sendPieces([...get])).toMatchObject({ status: 200 });
    expect(await recorded('bytewise')).toBe(1);
  });

  it('is answered when its body comes a byte at a time, in two bytes of one character too', async () => {
    const body = Buffer.from(JSON.stringify(eventBody({ service_name: 'bytewise-body', entity: 'é漢🚢' })));
    const request = eventRequest('', '', { body: body.toString('latin1') });
    const head = request.slice(0, -body.length);
    expect(await sendPieces([head, ...request.slice(head.length)])).toMatchObject({ status: 201 });
    const { deploy_events } = await windowOf(server, tenant.readOnly, 'bytewise-body');
    expect(deploy_events).toMatchObject([{ entity: 'é漢🚢' }]);
  });

  it('is answered when every chunk holds a byte, and each comes on its own', async () => {
    const body = JSON.stringify(eventBody({ service_name: 'bytewise-chunks' }));
    const head = eventRequest('', '', { lines: [CHUNKED], body: '' });
    const chunks = [...body].map((character) => `1\r\n${character}\r\n`);
    expect(await sendPieces([head, ...chunks, '0\r\n\r\n'])).toMatchObject({ status: 201 });
    expect(await recorded('bytewise-chunks')).toBe(1);
  });

  it('is answered however its body is divided into two chunks', async () => {
    const body = JSON.stringify(eventBody({ service_name: 'divided' }));
    const connection = await RawConnection.open(server.process.port);
    for (let at = 1; at < body.length; at += 1) {
      const chunks = [body.slice(0, at), body.slice(at)].map(
        (part) => `${part.length.toString(16)}\r\n${part}\r\n`,
      );
      await connection.send(eventRequest('', '', { lines: [CHUNKED], body: `${chunks.join('')}0\r\n\r\n` }));
      expect((await answerOf(connection, `divided at ${at}`)).status).toBe(201);
    }
    connection.destroy();
    expect(await recorded('divided')).toBe(body.length - 1);
  });

  it('is one request, large as a body may be', async () => {
    const body = JSON.stringify(eventBody({ service_name: 'large' })).padEnd(64 * 1024);
    const request = eventRequest('', '', { body });
    for (const size of [1, 1000, 16_384, 65_536].map((each) => Math.max(each, 257))) {
      const pieces = Array.from({ length: Math.ceil(request.length / size) }, (_, n) =>
        request.slice(n * size, (n + 1) * size),
      );
      expect(await sendPieces(pieces)).toMatchObject({ status: 201 });
    }
    expect(await recorded('large')).toBe(4);
  });
});
