import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/agent/plugin.ts';
import { type PostgresqlMemory, postgresql } from '../../src/agent/postgresql/plugin.ts';
import { isEventType } from '../../src/domain/event.ts';

const REAL_LINES = ['log', 'csv', 'jsonl'].flatMap((extension) =>
  readFileSync(new URL(`../fixtures/postgresql-15.${extension}`, import.meta.url), 'utf8').split('\n'),
);

function readAll(lines: readonly string[]): { memory: PostgresqlMemory; events: AgentEvent[] } {
  const events: AgentEvent[] = [];
  let memory = postgresql.initialMemory;
  for (const line of lines) {
    const reading = postgresql.read(memory, line, { serviceName: 'orders-db' });
    memory = reading.memory;
    if (reading.event !== null) events.push(reading.event);
  }
  return { memory, events };
}

function expectValid(event: AgentEvent): void {
  for (const required of [event.service_name, event.vendor, event.entity]) {
    expect(required.trim()).not.toBe('');
    expect(required.length).toBeLessThanOrEqual(1024);
  }
  for (const value of [event.old_value, event.new_value, event.actor, event.raw_line]) {
    expect(value === undefined || typeof value === 'string').toBe(true);
  }
  for (const value of [event.old_value, event.new_value, event.actor]) {
    expect((value ?? '').length).toBeLessThanOrEqual(1024);
  }
  expect((event.raw_line ?? '').length).toBeLessThanOrEqual(8000);
  expect(isEventType(event.event_type)).toBe(true);
  expect(event.confidence).toBeGreaterThan(0);
  expect(event.confidence).toBeLessThanOrEqual(1);
  expect(Number.isInteger(event.ttl_seconds) && event.ttl_seconds > 0).toBe(true);
  if (event.timestamp != null) expect(new Date(event.timestamp).toISOString()).toBe(event.timestamp);
  for (const value of Object.values(event)) expect(String(value).isWellFormed()).toBe(true);
  expect(Object.values(event)).not.toContain(undefined);
}

const anyLine = fc.string({ unit: 'binary', maxLength: 300 });
const realLine = fc.constantFrom(...REAL_LINES);

/** A real line with a piece of it taken out, doubled, or replaced by something that matters to a format. */
const mutatedLine = fc
  .record({
    line: realLine,
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(40),
    piece: fc.oneof(
      anyLine,
      fc.constantFrom('"', '""', ',', '\t', '\0', '{', '\\ud800', ':  ', 'ERROR:  ', ' 😀'),
    ),
  })
  .map(({ line, at, length, piece }) => {
    const start = Math.floor(at * line.length);
    return line.slice(0, start) + piece + line.slice(start + length);
  });

const log = fc.array(fc.oneof(anyLine, realLine, mutatedLine), { maxLength: 60 });

/** Real records whose message is anything: what a client can have the server write. */
const chosenMessage = fc
  .record({
    start: fc.constantFrom(
      'LOG:  parameter "',
      'ERROR:  could not extend file "',
      'FATAL:  too many connections for role "',
      'LOG:  database system was interrupted; ',
    ),
    rest: fc.string({ unit: 'binary', maxLength: 3000 }),
    end: fc.constantFrom('" changed to "x"', '": No space left on device', '"', ''),
  })
  .map(
    ({ start, rest, end }) => `2026-11-20 15:00:00.000 UTC [7] ${start}${rest.replaceAll('\n', ' ')}${end}`,
  );

describe('the PostgreSQL plugin', () => {
  test('reads any lines without throwing, and every event is valid', () => {
    fc.assert(
      fc.property(log, (lines) => {
        for (const event of readAll(lines).events) expectValid(event);
      }),
      { numRuns: 300 },
    );
  });

  test('makes valid events of whatever stands in a message', () => {
    fc.assert(
      fc.property(fc.array(chosenMessage, { maxLength: 20 }), (lines) => {
        for (const event of readAll(lines).events) expectValid(event);
      }),
      { numRuns: 300 },
    );
  });

  test('gives the same events for the same lines, and leaves the memory it was handed as it was', () => {
    fc.assert(
      fc.property(log, realLine, (lines, next) => {
        const { memory, events } = readAll(lines);
        const before = structuredClone(memory);
        postgresql.read(memory, next, { serviceName: 'orders-db' });
        expect(memory).toEqual(before);
        expect(readAll(lines).events).toEqual(events);
      }),
      { numRuns: 100 },
    );
  });

  test('remembers a bounded amount of an unbounded log', () => {
    const lines = Array.from({ length: 5000 }, (_, index) => [
      `2026-11-20 15:00:00.000 UTC [${index + 1}] LOG:  connection authorized: user=u${index} database=d application_name=a`,
      `2026-11-20 15:00:00.000 UTC [1] LOG:  parameter "p${index}.q" changed to "${'v'.repeat(600)}"`,
      `2026-11-20 15:00:00.000 UTC [${index + 1}] ERROR:  canceling statement due to statement timeout`,
    ]).flat();
    const { memory } = readAll(lines);
    const entries = memory.sessions.size + memory.configuration.values.size + memory.reports.size;
    expect(entries).toBeLessThanOrEqual(2000);
    expect(JSON.stringify([...memory.configuration.values]).length).toBeLessThan(1_000_000);
  });

  test('gives up a record that never ends', () => {
    const open =
      '2026-11-20 15:00:00.000 UTC,"app","db",7,"[local]",6b.1,1,"INSERT",2026-11-20 15:00:00 UTC,3/8,0,ERROR,53100,"could not extend file ""base/5/1"": No space left on device",,,,,,"insert';
    const rows = Array.from({ length: 30_000 }, () => `(${'1'.repeat(50)}),`);
    const { memory, events } = readAll([open, ...rows]);
    expect((memory.pending ?? '').length).toBeLessThanOrEqual(1 << 20);
    expect(events).toMatchObject([{ entity: 'base/5/1', event_type: 'saturation' }]);
  });
});
