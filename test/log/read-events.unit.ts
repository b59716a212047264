/** Events are read back one by one, whichever records they stand in. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ContextEvent } from '../../src/domain/event.ts';
import { agentId, tenantId } from '../../src/domain/ids.ts';
import { anEvent } from '../support/engine.ts';
import { aCommand, appendOne, LogDirectory } from './log-directory.ts';

let directory: LogDirectory;
beforeEach(() => {
  directory = new LogDirectory();
});
afterEach(() => directory.discard());

function batchOf(count: number, name: string): readonly ContextEvent[] {
  return Array.from({ length: count }, (_, n) =>
    anEvent({ entity: `${name} ${n}`, rawLine: 'x'.repeat(n % 50) }),
  );
}

describe('events in the log', () => {
  it('are read in the order in which they are asked for', async () => {
    const { log } = await directory.open();
    const batches = [batchOf(1, 'one'), batchOf(300, 'many'), batchOf(2, 'two')];
    const ids = { tenantId: tenantId('t'), agentId: agentId('a') };
    const places = batches.flatMap((events) => {
      const { position } = appendOne(log, { type: 'record-events', ...ids, events });
      return events.map((event, index) => ({ position, index, event }));
    });
    const ask = (wanted: readonly (typeof places)[number][]) =>
      expect(log.readEvents(wanted)).toEqual(wanted.map(({ event }) => event));
    ask(places);
    ask(places.toReversed());
    ask(places.filter((_, n) => n % 7 === 0).reverse());
    // The same event twice, and two records in turns.
    ask([2, 300, 2, 301, 2, 2, 0].flatMap((n) => places[n] ?? []));
    ask([]);
    directory.close(log);
  });

  it('that are not there are a broken invariant', async () => {
    const { log } = await directory.open();
    const ids = { tenantId: tenantId('t'), agentId: agentId('a') };
    const { position } = appendOne(log, { type: 'record-events', ...ids, events: batchOf(2, 'two') });
    const other = appendOne(log, aCommand(1)).position;
    expect(() => log.readEvents([{ position, index: 2 }])).toThrow('no event 2');
    expect(() => log.readEvents([{ position, index: 9 }])).toThrow('no event');
    expect(() => log.readEvents([{ position: other, index: 0 }])).toThrow('no events at log position');
    directory.close(log);
  });
});
