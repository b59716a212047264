/** Bodies that are not the JSON they should be: a clear 4xx, and nothing changes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Answer,
  eventBody,
  expectRefusal,
  type Headers,
  type Tenant,
  TestServer,
} from '../support/http.ts';
import type { AgentBody } from './bodies.ts';
import { createIntegration, eventLog, register, sendEvent } from './operations.ts';

const MIB = 1024 * 1024;
const EVENT = JSON.stringify(eventBody());

let server: TestServer;
let tenant: Tenant;
let agent: AgentBody;
/** Every operation that reads JSON, and a body it would take. */
let writes: readonly {
  readonly good: string;
  readonly send: (body: string | Buffer, headers?: Headers) => Promise<Answer>;
}[];

beforeAll(async () => {
  server = await TestServer.start();
  tenant = server.tenant;
  agent = await register(server, tenant.ingest);
  await sendEvent(server, tenant.ingest);
  const { id } = await createIntegration(server, tenant.readOnly);
  const { http } = server;
  writes = [
    { good: EVENT, send: (body, headers) => http.post('/v1/events', tenant.ingest, body, headers) },
    {
      good: '{"hostname":"another"}',
      send: (body, headers) => http.post('/v1/agents/register', tenant.ingest, body, headers),
    },
    {
      good: '{"type":"pagerduty","direction":"inbound"}',
      send: (body, headers) => http.post('/v1/integrations', tenant.readOnly, body, headers),
    },
    {
      good: '{"config":{"a":"b"}}',
      send: (body, headers) => http.put(`/v1/integrations/${id}`, tenant.readOnly, body, headers),
    },
  ];
});
afterAll(() => server.stop());

const post = (body: string) => server.http.post('/v1/events', tenant.ingest, body);

async function expectUnchanged(refused: () => Promise<void>): Promise<void> {
  const before = await server.everything(tenant);
  await refused();
  expect(await server.everything(tenant)).toEqual(before);
}

/** Puts `more` into an object's text as its first member. */
function withMember(object: string, more: string): string {
  return `{${more},${object.slice(1)}`;
}

function utf16(text: string): Buffer {
  return Buffer.from(text, 'utf16le');
}

/** Bytes in the place of the first quoted text after a colon. */
function withBytes(object: string, bytes: readonly number[]): Buffer {
  const [before = '', after = ''] = object.split(/(?<=:)"[^"]*"/, 2);
  const rest = object.slice(before.length).replace(/^"[^"]*"/, '');
  expect(after).toBeDefined();
  return Buffer.concat([Buffer.from(`${before}"`), Buffer.from(bytes), Buffer.from(`"${rest}`)]);
}

describe('a body that is no JSON', () => {
  it.each<[string, (good: string) => string | Buffer, RegExp]>([
    ['nothing', () => '', /JSON/],
    ['blanks', () => ' \r\n\t', /JSON/],
    ['cut short', (good) => good.slice(0, -1), /JSON/],
    ['followed by more', (good) => `${good}}`, /JSON/],
    ['two values', (good) => good + good, /JSON/],
    ['a trailing comma', (good) => `${good.slice(0, -1)},}`, /JSON/],
    ['a comment', (good) => `/* hello */${good}`, /JSON/],
    ['single quotes', (good) => good.replaceAll('"', "'"), /JSON/],
    ['keys without quotes', (good) => good.replaceAll(/"(\w+)":/g, '$1:'), /JSON/],
    ['a form', () => 'service_name=s&vendor=v', /JSON/],
    ['NaN', (good) => withMember(good, '"x":NaN'), /JSON/],
    ['Infinity', (good) => withMember(good, '"x":-Infinity'), /JSON/],
    ['a number with leading zeros', (good) => withMember(good, '"x":007'), /JSON/],
    ['a hexadecimal number', (good) => withMember(good, '"x":0x10'), /JSON/],
    ['a number without digits after its point', (good) => withMember(good, '"x":1.'), /JSON/],
    ['undefined', (good) => withMember(good, '"x":undefined'), /JSON/],
    ['a control character in a string', (good) => withMember(good, '"x":"a\u0001b"'), /JSON/],
    ['a line end in a string', (good) => withMember(good, '"x":"a\nb"'), /JSON/],
    ['an unknown escape', (good) => withMember(good, '"x":"\\x41"'), /JSON/],
    ['a broken escape', (good) => withMember(good, '"x":"\\u12"'), /JSON/],
    ['a byte order mark', (good) => `\ufeff${good}`, /JSON/],
    ['a NUL byte after it', (good) => `${good}\0`, /JSON/],
    ['a NUL byte before it', (good) => `\0${good}`, /JSON/],
    ['UTF-16', utf16, /JSON|UTF-8/],
    ['a lone continuation byte', (good) => withBytes(good, [0x61, 0x80]), /UTF-8/],
    ['a byte that is never UTF-8', (good) => withBytes(good, [0xff]), /UTF-8/],
    ['Latin-1', (good) => withBytes(good, [0x63, 0x61, 0x66, 0xe9]), /UTF-8/],
    ['an overlong slash', (good) => withBytes(good, [0xc0, 0xaf]), /UTF-8/],
    ['an overlong NUL', (good) => withBytes(good, [0xc0, 0x80]), /UTF-8/],
    ['half a surrogate pair in UTF-8', (good) => withBytes(good, [0xed, 0xa0, 0x80]), /UTF-8/],
    ['a character past the last', (good) => withBytes(good, [0xf4, 0x90, 0x80, 0x80]), /UTF-8/],
    ['a character cut short', (good) => withBytes(good, [0xf0, 0x9f, 0x9a]), /UTF-8/],
    ['gzip', () => Buffer.from('1f8b0800000000000003ab562a4e2d2a', 'hex'), /JSON|UTF-8/],
  ])('is 400, and changes nothing: %s', async (_, spoil, sentence) => {
    await expectUnchanged(async () => {
      for (const { good, send } of writes) expectRefusal(await send(spoil(good)), 400, sentence);
    });
  });
});

describe('JSON that two readers could read differently', () => {
  it.each<[string, (good: string) => string, RegExp]>([
    ['a key given twice', (good) => withMember(good, '"x":1,"x":1'), /repeated/],
    [
      'a key given twice, far apart',
      (good) => `${withMember(good, '"x":1').slice(0, -1)},"x":{}}`,
      /repeated/,
    ],
    ['a key spelled by an escape', (good) => withMember(good, '"a":1,"\\u0061":1'), /repeated/],
    [
      'a key spelled by a pair of escapes',
      (good) => withMember(good, '"🚢":1,"\\ud83d\\udea2":1'),
      /repeated/,
    ],
    ['a key given twice inside', (good) => withMember(good, '"x":{"y":[{"a":1,"b":2,"a":3}]}'), /repeated/],
    ['an empty key given twice', (good) => withMember(good, '"":1,"":1'), /repeated/],
    ['a prototype given twice', (good) => withMember(good, '"__proto__":1,"__proto__":2'), /repeated/],
    [
      'a quote hidden in a key given twice',
      (good) => withMember(good, '"\\"":"\\\\","\\"":"\\\\\\""'),
      /repeated/,
    ],
    ['a number no double holds', (good) => withMember(good, '"x":1e999'), /large/],
    ['a negative number no double holds', (good) => withMember(good, '"x":[-1e400]'), /large/],
    ['a high surrogate alone', (good) => withMember(good, '"x":"\\ud83d"'), /surrogate/],
    ['a low surrogate alone', (good) => withMember(good, '"x":["a","\\udea2b"]'), /surrogate/],
    ['surrogates the wrong way round', (good) => withMember(good, '"x":"\\udea2\\ud83d"'), /surrogate/],
    ['a surrogate alone in a key', (good) => withMember(good, '"\\ud83d":1'), /surrogate/],
    ['33 lists in one another', (good) => withMember(good, `"x":${'['.repeat(33)}${']'.repeat(33)}`), /deep/],
    [
      '40 objects in one another',
      (good) => withMember(good, `"x":${'{"a":'.repeat(40)}1${'}'.repeat(40)}`),
      /deep/,
    ],
    ['10 000 objects in one another', () => `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`, /deep/],
    ['30 000 lists in one another', () => `${'['.repeat(30_000)}${']'.repeat(30_000)}`, /deep/],
  ])('is 400, and changes nothing: %s', async (_, spoil, sentence) => {
    await expectUnchanged(async () => {
      for (const { good, send } of writes) expectRefusal(await send(spoil(good)), 400, sentence);
    });
  });

  it('is 400 where a field is given twice, whichever would have been taken', async () => {
    await expectUnchanged(async () => {
      for (const field of ['"confidence":0.5', '"confidence":7', '"confidence":0.95']) {
        expectRefusal(await post(withMember(EVENT, field)), 400, /repeated/);
      }
    });
  });
});

describe('JSON that is no object', () => {
  it.each(['null', 'true', '5', '-0', '"text"', '[]', '[{}]', `[${EVENT}]`])('is 400: %s', async (body) => {
    await expectUnchanged(async () => {
      for (const { send } of writes) expectRefusal(await send(body), 400, /object|required/);
    });
  });
});

describe('JSON that is unusual and means one thing', () => {
  it.each<[string, (good: string) => string]>([
    ['blanks between all of it', (good) => ` \n${good.replaceAll(':', ' :\t').replaceAll(',', ' ,\r\n')} `],
    [
      'keys spelled by escapes',
      (good) => good.replaceAll(/"([a-z])/g, (_, c: string) => `"\\u00${c.charCodeAt(0).toString(16)}`),
    ],
    ['strings that look like keys', (good) => withMember(good, '"x":"x","y":["y","y","x"]')],
    ['the same key in two objects', (good) => withMember(good, '"x":{"a":1},"y":{"a":1,"y":{"a":{}}}')],
    [
      'strings full of quotes and backslashes',
      (good) => withMember(good, '"\\"\\\\":"\\\\\\"\\\\","\\\\\\"":"\\""'),
    ],
    ['keys every object has', (good) => withMember(good, '"constructor":{"prototype":{}},"toString":null')],
    ['a number no double holds exactly', (good) => withMember(good, '"x":9007199254740993,"y":0.1e-400')],
    ['nesting up to the limit', (good) => withMember(good, `"x":${'['.repeat(31)}${']'.repeat(31)}`)],
    ['characters of four bytes', (good) => withMember(good, '"🚢":"🚢\\ud83d\\udea2"')],
    [
      'noncharacters and controls by escape',
      (good) => withMember(good, '"x":"\\uffff\\ufffe\\u0000\\u007f\\u2028"'),
    ],
  ])('is taken: %s', async (_, dress) => {
    for (const { good, send } of writes.slice(0, 3)) {
      expect((await send(dress(good))).status).toBe(201);
    }
  });

  it('means nothing by a prototype', async () => {
    const { total } = await eventLog(server, tenant.readOnly, agent.id);
    const hollow =
      '{"__proto__":{"service_name":"s","vendor":"v","entity":"e"},"confidence":1,"ttl_seconds":60}';
    expectRefusal(await post(hollow), 400, 'service_name, vendor, and entity are required');
    const full = withMember(EVENT, '"__proto__":{"raw_line":5,"actor":7},"constructor":{"name":"x"}');
    expect(await post(full)).toMatchObject({ status: 201 });
    const log = await eventLog(server, tenant.readOnly, agent.id);
    expect(log.total).toBe(total + 1);
    expect(log.events[0]).toMatchObject({ actor: null, vendor: 'argocd' });
  });
});

describe('a body of 10 MB', () => {
  const ten = () => Buffer.alloc(10 * MIB, ' ').fill(EVENT, 0, EVENT.length);

  it.each([
    ['with Content-Length', false],
    ['in chunks', true],
  ])('is 413 %s, and changes nothing', async (_, chunked) => {
    await expectUnchanged(async () => {
      const sent = { method: 'POST', path: '/v1/events', key: tenant.ingest, chunked } as const;
      expectRefusal(await server.http.send({ ...sent, body: ten() }), 413, /65536/);
      const lines = Buffer.from(`${EVENT}\n`.repeat(10 * 4096));
      expectRefusal(await server.http.send({ ...sent, body: lines }), 413, /65536/);
    });
  });

  it('is 413 for every write, and for a webhook', async () => {
    const hook = await createIntegration(server, tenant.readOnly);
    await expectUnchanged(async () => {
      for (const { send } of writes) expectRefusal(await send(ten()), 413, /65536/);
      const answer = await server.http.post(`/webhooks/pagerduty/${hook.token}`, undefined, ten());
      expectRefusal(answer, 413, /1048576/);
    });
  });

  it('is cut off where it goes on and on, and changes nothing', async () => {
    await expectUnchanged(async () => {
      for (const chunked of [false, true]) {
        const sent = { method: 'POST', path: '/v1/events', key: tenant.ingest, chunked } as const;
        // A client that is still sending may see the connection go before it sees the answer.
        const answer = await server.http.send({ ...sent, body: Buffer.alloc(40 * MIB, ' ') }).catch(String);
        if (typeof answer === 'string') expect(answer).toMatch(/EPIPE|ECONNRESET|socket hang up/);
        else expectRefusal(answer, 413, /65536/);
      }
    });
  });

  it('does not keep others from being answered', async () => {
    const heavy = Promise.all(
      Array.from({ length: 8 }, () => server.http.post('/v1/events', tenant.ingest, ten())),
    );
    for (let n = 0; n < 20; n += 1) await sendEvent(server, tenant.ingest);
    for (const answer of await heavy) expect(answer.status).toBe(413);
  });
});
