/**
 * Real servers, really killed. A record outside of the server holds what was acknowledged; whatever the moment
 * of the kill, all of it must be there afterwards, once and in order, and nothing half-way.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { removeDirectory, type ServerProcess, startServer, temporaryDirectory } from '../support/server.ts';

const ROUNDS = Number(process.env['FORESHOCK_KILL_ROUNDS'] ?? 4);
const WRITERS = 8;
const BASE_URL = 'http://foreshock.test';

interface Keys {
  readonly ingest: string;
  readonly readOnly: string;
}

/** What one writer sent: every event has an entity of its own, numbered. */
interface Writer {
  readonly name: string;
  sent: number;
  /** Sent, and the server died before it answered: they may be there or not. */
  readonly unanswered: Set<number>;
}

const directories: string[] = [];
afterAll(() => directories.forEach(removeDirectory));

describe.each(['write', 'fsync'])('kill -9 in %s mode', (durability) => {
  it(`loses, repeats and reorders nothing acknowledged, in ${ROUNDS} rounds`, async () => {
    const directory = temporaryDirectory();
    directories.push(directory);
    const flags = ['--durability', durability, '--base-url', BASE_URL, '--segment-bytes', '65536'];
    let server = await startServer(directory, flags);
    const keys: Keys = { ingest: server.ingestKey, readOnly: server.readOnlyKey };
    const agentId = await register(server, keys);
    const writers: Writer[] = Array.from({ length: WRITERS }, (_, n) => ({
      name: `w${n}`,
      sent: 0,
      unanswered: new Set(),
    }));

    for (let round = 0; round < ROUNDS; round += 1) {
      await killWhileWriting(server, keys, writers, 50 + Math.floor((300 * ((round * 7919) % 97)) / 97));
      server = await startServer(directory, flags);
      await expectAcknowledged(server, keys, agentId, writers);
    }

    const before = await allAnswers(server, keys, agentId);
    await server.kill();
    server = await startServer(directory, flags);
    expect(await allAnswers(server, keys, agentId)).toEqual(before);
    expect(await server.stop()).toBe(0);
  }, 120_000);
});

async function killWhileWriting(
  server: ServerProcess,
  keys: Keys,
  writers: readonly Writer[],
  afterMs: number,
) {
  let killed = false;
  const writing = writers.map(async (writer) => {
    while (!killed) {
      writer.sent += 1;
      const entity = `${writer.name}-${writer.sent}`;
      const status = await post(server, keys.ingest, '/v1/events', anEvent(entity)).then(
        (answer) => answer.status,
        () => undefined,
      );
      if (status === 201) continue;
      // Nothing but death may keep the server from answering 201.
      expect(status).toBeUndefined();
      writer.unanswered.add(writer.sent);
      return;
    }
  });
  await new Promise((done) => setTimeout(done, afterMs));
  killed = true;
  await server.kill();
  await Promise.all(writing);
}

async function expectAcknowledged(
  server: ServerProcess,
  keys: Keys,
  agentId: string,
  writers: readonly Writer[],
) {
  const entities = (await eventLog(server, keys, agentId)).map((event) => event.entity);
  expect(new Set(entities).size).toBe(entities.length);
  for (const writer of writers) {
    const numbers = entities
      .filter((entity) => entity.startsWith(`${writer.name}-`))
      .map((entity) => Number(entity.split('-')[1]));
    // Newest first: what a writer sent one after the other is there in that order.
    expect(numbers).toEqual([...numbers].sort((a, b) => b - a));
    const there = new Set(numbers);
    const missing = Array.from({ length: writer.sent }, (_, n) => n + 1).filter(
      (number) => !there.has(number),
    );
    expect(missing.filter((number) => !writer.unanswered.has(number))).toEqual([]);
  }
}

async function allAnswers(server: ServerProcess, keys: Keys, agentId: string): Promise<string[]> {
  const services: { id: string }[] = JSON.parse(await get(server, keys, '/v1/services'));
  const paths = [
    '/v1/services',
    '/v1/agents',
    '/v1/integrations',
    ...services.map(({ id }) => `/v1/services/${id}/context`),
    `/v1/agents/${agentId}?per_page=100`,
    `/v1/agents/${agentId}?per_page=100&page=2&service=checkout-api`,
  ];
  return Promise.all(paths.map((path) => get(server, keys, path)));
}

async function eventLog(server: ServerProcess, keys: Keys, agentId: string): Promise<{ entity: string }[]> {
  const events: { entity: string }[] = [];
  for (let page = 1; ; page += 1) {
    const answer = JSON.parse(await get(server, keys, `/v1/agents/${agentId}?per_page=100&page=${page}`));
    events.push(...answer.events);
    if (page >= answer.total_pages) return events;
  }
}

async function register(server: ServerProcess, keys: Keys): Promise<string> {
  const answer = await post(server, keys.ingest, '/v1/agents/register', { hostname: 'db-1' });
  return JSON.parse(await answer.text()).id;
}

function anEvent(entity: string) {
  return {
    service_name: 'checkout-api',
    vendor: 'argocd',
    entity,
    event_type: 'deploy',
    confidence: 0.9,
    ttl_seconds: 3600,
  };
}

function post(server: ServerProcess, key: string, path: string, body: object): Promise<Response> {
  return fetch(server.url + path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function get(server: ServerProcess, keys: Keys, path: string): Promise<string> {
  const answer = await fetch(server.url + path, { headers: { Authorization: `Bearer ${keys.readOnly}` } });
  expect(answer.status).toBe(200);
  return answer.text();
}
