/** Readers who come and go, stop reading and go on, while the log grows and the engine restarts: what each has seen is the log. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Durability } from '../../src/commands/durability.ts';
import type { Command } from '../../src/domain/command.ts';
import { EVENT_TYPES, type EventType } from '../../src/domain/event.ts';
import type { ApiKey } from '../../src/domain/key.ts';
import { ManualClock } from '../../src/lib/clock.ts';
import { eventLoop } from '../../src/lib/scheduler.ts';
import type { StreamFilter } from '../../src/stream/filter.ts';
import type { Connection } from '../../src/stream/reader.ts';
import { parsePoint } from '../../src/stream/resume-point.ts';
import { anEvent, openTestEngine, START_MS, type TestEngine } from '../support/engine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';
import { SseParser } from './sse.ts';

const SERVICES = ['checkout-api', 'payments', 'search'];
const TYPES: readonly EventType[] = EVENT_TYPES.slice(0, 2);
/** Small, so that walks go from segment to segment. */
const SEGMENT_BYTES = 8192;

const FILTERS: readonly StreamFilter[] = [
  { service: null, eventType: null },
  { service: 'payments', eventType: null },
  { service: null, eventType: 'restart' },
  { service: 'search', eventType: 'deploy' },
];

/** What passes no time but that of the event loop; a disk that hangs would still take long to be noticed. */
const hurried = {
  ...eventLoop,
  after: (delayMs: number, task: () => void) => eventLoop.after(delayMs < 2000 ? 0 : delayMs, task),
};

/** Every look at it takes a while, so that turns end in the middle of what they do. */
class RestlessClock extends ManualClock {
  #looks = 0;

  override monotonic(): number {
    this.#looks += 0.4;
    return this.#looks;
  }
}

/** A reader and its connection: what the connection holds back is lost when it is cut. */
class Reader {
  readonly filter: StreamFilter;
  readonly parser = new SseParser();
  #connection: Connection | undefined;
  #isBlocked = false;
  #held: string[] = [];

  constructor(filter: StreamFilter) {
    this.filter = filter;
  }

  connect(engine: TestEngine, key: ApiKey): void {
    if (this.#connection !== undefined) return;
    const { lastEventId } = this.parser;
    const from = lastEventId === '' ? null : (parsePoint(lastEventId) ?? null);
    this.#isBlocked = false;
    this.#held = [];
    const close = () => this.cut();
    const socket = {
      write: (bytes: Uint8Array) => {
        const text = Buffer.from(bytes).toString();
        if (this.#isBlocked) this.#held.push(text);
        else this.parser.add(text);
        return !this.#isBlocked;
      },
      end: close,
      close,
    };
    const connection = engine.streams.open({ key, filter: this.filter, from }, socket);
    this.#connection = connection;
  }

  cut(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.gone();
  }

  block(): void {
    this.#isBlocked = true;
  }

  unblock(): void {
    if (!this.#isBlocked) return;
    this.#isBlocked = false;
    for (const text of this.#held.splice(0)) this.parser.add(text);
    this.#connection?.drained();
  }
}

interface Told {
  readonly id: string;
  readonly name: string;
  readonly service: string | null;
  readonly eventType: EventType | null;
  readonly entity: string | null;
}

const reader = fc.nat(FILTERS.length - 1);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('send' as const),
      events: fc.array(fc.record({ service: fc.nat(2), eventType: fc.nat(1), isLong: fc.boolean() }), {
        minLength: 1,
        maxLength: 12,
      }),
    }),
  },
  // Of long ones, more than is held in memory.
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('burst' as const), count: fc.nat(300), isLong: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('heartbeat' as const, 'strangers' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('turn' as const, 'restart' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constantFrom('cut' as const, 'connect' as const, 'block' as const, 'unblock' as const),
      reader,
    }),
  },
);

const turn = () => new Promise((resolve) => setTimeout(resolve, 3));

describe.each(['write', 'fsync'] as const)('in %s mode', (durability: Durability) => {
  it('what a reader sees, however often it goes and comes back, is what the log holds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const directory = temporaryDirectory();
        const settings = { durability, segmentBytes: SEGMENT_BYTES };
        const clock = new RestlessClock(START_MS);
        const open = () => openTestEngine(directory, settings, clock, undefined, hurried);
        let engine = await open();
        try {
          const { tenantId, agentId, key } = await engine.newTenant('ours');
          const others = await engine.newTenant('theirs');
          const readers = FILTERS.map((filter) => new Reader(filter));
          for (const each of readers) each.connect(engine, key);
          const told: Told[] = [];
          let sequence = engine.pipeline.appliedSequence;
          let entities = 0;
          const waiting: Promise<unknown>[] = [];
          const submit = (command: Command) => {
            sequence += 1;
            waiting.push(engine.submit(command));
          };
          const send = (events: readonly { service: number; eventType: number; isLong: boolean }[]) => {
            const made = events.map(({ service, eventType, isLong }) => {
              entities += 1;
              return anEvent({
                serviceName: SERVICES[service] ?? '',
                eventType: TYPES[eventType] ?? 'deploy',
                entity: `e-${entities}`,
                newValue: isLong ? 'é"'.repeat(2000) : null,
              });
            });
            submit({ type: 'record-events', tenantId, agentId, events: made });
            for (const [index, { serviceName, eventType, entity }] of made.entries()) {
              const id = index === made.length - 1 ? `${sequence}` : `${sequence}.${index + 1}`;
              told.push({ id, name: 'event', service: serviceName, eventType, entity });
            }
          };
          for (const each of steps) {
            switch (each.type) {
              case 'send':
                send(each.events);
                break;
              case 'burst':
                for (let sent = 0; sent < each.count; sent += 1)
                  send([{ service: sent % 3, eventType: sent % 2, isLong: each.isLong }]);
                break;
              case 'heartbeat':
                submit({ type: 'heartbeat', tenantId, agentId });
                told.push({
                  id: `${sequence}`,
                  name: 'heartbeat',
                  service: null,
                  eventType: null,
                  entity: null,
                });
                break;
              case 'strangers': {
                const events = [anEvent({ entity: 'not yours' })];
                submit({
                  type: 'record-events',
                  tenantId: others.tenantId,
                  agentId: others.agentId,
                  events,
                });
                break;
              }
              case 'turn':
                await turn();
                break;
              case 'restart':
                await Promise.all(waiting.splice(0));
                await engine.close();
                engine = await open();
                break;
              case 'cut':
                readers[each.reader]?.cut();
                break;
              case 'connect':
                readers[each.reader]?.connect(engine, key);
                break;
              case 'block':
                readers[each.reader]?.block();
                break;
              case 'unblock':
                readers[each.reader]?.unblock();
                break;
            }
          }
          await Promise.all(waiting);
          const seen = (each: Reader) => each.parser.messages.map(({ id, name }) => `${id} ${name}`);
          const expected = readers.map(({ filter }) =>
            told
              .filter(({ service }) => filter.service === null || filter.service === service)
              .filter(({ eventType }) => filter.eventType === null || filter.eventType === eventType),
          );
          for (const each of readers) {
            each.unblock();
            each.connect(engine, key);
          }
          const isThere = (each: Reader, index: number) =>
            seen(each).length >= (expected[index]?.length ?? 0);
          for (let turns = 0; turns < 3000 && !readers.every(isThere); turns += 1) {
            await turn();
            // Those that were cut off come back.
            for (const each of readers) each.connect(engine, key);
          }
          await turn();
          for (const [index, each] of readers.entries()) {
            expect(seen(each)).toEqual(expected[index]?.map(({ id, name }) => `${id} ${name}`));
            expect(each.parser.messages.map(({ data }) => data['entity'] ?? null)).toEqual(
              expected[index]?.map(({ entity }) => entity),
            );
          }
          // An event's id ends in its number among the events of its tenant, and so does its entity here.
          for (const { name, data } of readers.flatMap(({ parser }) => parser.messages)) {
            if (name !== 'event') continue;
            const number = Number.parseInt(String(data['id']).slice(-12), 16);
            expect(`e-${number}`).toBe(data['entity']);
          }
        } finally {
          await engine.close();
          removeDirectory(directory);
        }
      }),
      { numRuns: Number(process.env['FORESHOCK_STREAM_RUNS'] ?? 25) },
    );
  }, 120_000);
});
