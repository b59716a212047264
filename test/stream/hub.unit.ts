import { afterEach, beforeEach, expect, it } from 'vitest';
import { ManualClock } from '../../src/lib/clock.ts';
import { anEvent, openTestEngine, type TestEngine } from '../support/engine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';
import { SseParser } from './sse.ts';

type Holder = Awaited<ReturnType<TestEngine['newTenant']>>;

const START_MS = Date.parse('2026-08-22T10:00:00Z');

class ClockThatGoes extends ManualClock {
  override monotonic(): number {
    return performance.now();
  }
}

let directory: string;
let engine: TestEngine;
let tenant: Holder;

beforeEach(async () => {
  directory = temporaryDirectory();
  engine = await openTestEngine(directory);
  tenant = await engine.newTenant('acme');
});

afterEach(async () => {
  await engine.close();
  removeDirectory(directory);
});

function send(entity: string, newValue: string | null = null): void {
  const { tenantId, agentId } = tenant;
  const events = [anEvent({ entity, newValue })];
  engine.pipeline.submit({ type: 'record-events', tenantId, agentId, events }, () => {});
}

function read(): SseParser {
  const parser = new SseParser();
  const write = (bytes: Uint8Array) => {
    parser.add(Buffer.from(bytes).toString());
    return true;
  };
  const filter = { service: null, eventType: null };
  engine.streams.open({ key: tenant.key, filter, from: null }, { write, end: () => {}, close: () => {} });
  return parser;
}

const entitiesIn = ({ messages }: SseParser) => messages.map(({ data }) => data['entity']);
const numbersIn = ({ messages }: SseParser) =>
  messages.map(({ data }) => Number.parseInt(String(data['id']).slice(-12), 16));

it('a reader begins where the others are: with what is still to be told, and with nothing before', async () => {
  const first = read();
  send('before');
  const second = read();
  expect(Number(second.lastEventId)).toBe(engine.pipeline.appliedSequence - 1);
  send('after');
  await expect.poll(() => entitiesIn(second)).toEqual(['before', 'after']);
  expect(entitiesIn(first)).toEqual(['before', 'after']);
});

it('what is too much to be held in memory is read from the log, and its events keep their numbers', async () => {
  const parser = read();
  const long = 'x'.repeat(4000);
  for (let number = 1; number <= 400; number += 1) send(`e-${number}`, long);
  await expect.poll(() => numbersIn(parser), { timeout: 10_000 }).toHaveLength(400);
  send('e-401');
  await expect.poll(() => numbersIn(parser)).toHaveLength(401);
  expect(numbersIn(parser)).toEqual(Array.from({ length: 401 }, (_, index) => index + 1));
  expect(entitiesIn(parser)).toEqual(Array.from({ length: 401 }, (_, index) => `e-${index + 1}`));
});

it('what many have missed is made into messages once for all of them', async () => {
  const sequence = engine.pipeline.appliedSequence + 1;
  for (let number = 1; number <= 50; number += 1) send(`e-${number}`);
  const filter = { service: null, eventType: null };
  const seen: Uint8Array[][] = [];
  for (let count = 0; count < 20; count += 1) {
    const writes: Uint8Array[] = [];
    seen.push(writes);
    const write = (bytes: Uint8Array) => writes.push(bytes) > 0;
    const from = { sequence, taken: 0 };
    engine.streams.open({ key: tenant.key, filter, from }, { write, end: () => {}, close: () => {} });
  }
  await expect.poll(() => seen.every(([, told]) => told !== undefined)).toBe(true);
  // The very same bytes, not bytes that are equal.
  expect(new Set(seen.map(([, told]) => told)).size).toBe(1);
  expect(seen[0]?.[1]?.toString()).toContain('"e-50"');
});

it('a reader who comes when all others have gone or fallen behind misses nothing from there on', async () => {
  const filter = { service: null, eventType: null };
  let isReading = true;
  const write = () => isReading;
  const open = () => engine.streams.open({ key: tenant.key, filter, from: null }, { write, end, close: end });
  const end = () => {};
  open();
  isReading = false;
  for (const entity of ['a', 'b']) {
    send(entity);
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  // It has stopped reading.
  await expect.poll(() => engine.streams.counts).toMatchObject({ open: 1, behind: 1 });
  isReading = true;
  const live = open();
  send('held for the other');
  live.gone();
  send('held for nobody');
  const parser = read();
  send('told');
  send('told too');
  await expect.poll(() => entitiesIn(parser)).toEqual(['told', 'told too']);
  expect(numbersIn(parser)).toEqual([5, 6]);
});

it('what is past retention cannot be told any more: the reader is to load anew', async () => {
  send('forgotten');
  engine.clock.step(48 * 3600 * 1000);
  send('kept');
  const parser = new SseParser();
  const write = (bytes: Uint8Array) => {
    parser.add(Buffer.from(bytes).toString());
    return true;
  };
  const from = { sequence: 1, taken: 0 };
  const filter = { service: null, eventType: null };
  engine.streams.open({ key: tenant.key, filter, from }, { write, end: () => {}, close: () => {} });
  await expect.poll(() => parser.messages.map(({ name }) => name)).toEqual(['reset']);
  send('new');
  await expect.poll(() => entitiesIn(parser).at(-1)).toBe('new');
});

it('what one tenant has missed is told it while another has news all the time', async () => {
  // The turns of the hub are to end when they have taken long enough.
  await engine.close();
  engine = await openTestEngine(directory, {}, new ClockThatGoes(START_MS));
  tenant = await engine.newTenant('acme again');
  const other = await engine.newTenant('other');
  const from = { sequence: engine.pipeline.appliedSequence + 1, taken: 0 };
  send('missed');
  const filter = { service: null, eventType: null };
  // To tell all of them takes longer than until there is more to be told.
  const slowly = () => {
    const untilMs = performance.now() + 0.2;
    while (performance.now() < untilMs);
    return true;
  };
  for (let count = 0; count < 50; count += 1)
    engine.streams.open(
      { key: other.key, filter, from: null },
      { write: slowly, end: () => {}, close: () => {} },
    );
  const { tenantId, agentId } = other;
  const record = () =>
    engine.pipeline.submit({ type: 'record-events', tenantId, agentId, events: [anEvent()] }, () => {});
  const reports = setInterval(record, 2);
  try {
    await new Promise((done) => setTimeout(done, 300));
    const parser = new SseParser();
    const write = (bytes: Uint8Array) => {
      parser.add(Buffer.from(bytes).toString());
      return true;
    };
    engine.streams.open({ key: tenant.key, filter, from }, { write, end: () => {}, close: () => {} });
    await expect.poll(() => entitiesIn(parser), { timeout: 3000 }).toEqual(['missed']);
  } finally {
    clearInterval(reports);
  }
});
