/** Events that are logged where they were encoded, in a buffer that the next request overwrites. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DURABILITIES } from '../../src/commands/durability.ts';
import type { ApiKey } from '../../src/domain/key.ts';
import { EventTranscoder } from '../../src/events/transcoder.ts';
import { ManualClock } from '../../src/lib/clock.ts';
import { anEvent, openTestEngine, START_MS, type TestEngine } from '../support/engine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => removeDirectory(directory));

const EVENTS_OF_A_BATCH = 200;
const ROUNDS = 40;

/** Entities of an agent's events, oldest first, as its event log has them. */
function entitiesOf({ queries }: TestEngine, { tenantId, agentId }: ApiKey): string[] {
  const entities: string[] = [];
  for (let page = 1; ; page += 1) {
    const request = { page, perPage: 100, service: null, vendor: null, eventType: null } as const;
    const found = queries.agent(tenantId, agentId, request);
    if (found.type !== 'found') throw new Error(found.detail);
    const { events } = JSON.parse(found.json) as { events: { entity: string }[] };
    entities.push(...events.map(({ entity }) => entity));
    if (events.length < request.perPage) return entities.reverse();
  }
}

describe.each(DURABILITIES)('in %s mode', (durability) => {
  it('the events of each agent are its own, whoever sends next, and after a restart', async () => {
    const clock = new ManualClock(START_MS);
    const engine = await openTestEngine(directory, { durability }, clock);
    const transcoder = new EventTranscoder();
    const tenants = [await engine.newTenant('acme'), await engine.newTenant('umbrella')];
    const keys = tenants.map(({ key }) => key);
    const sent = new Map(keys.map((key) => [key, [] as string[]]));
    const settled: Promise<unknown>[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [key, entities] of sent) {
        transcoder.clear();
        // Now and then so many that the buffer has to grow in the midst of them.
        const count = round % 10 === 9 ? EVENTS_OF_A_BATCH : 1 + (round % 3);
        for (let n = 0; n < count; n += 1) {
          const entity = `${key.agentId}-${round}-${n}`;
          transcoder.take(anEvent({ entity, serviceName: `s-${round % 7}` }));
          entities.push(entity);
        }
        const command = { type: 'record-encoded-events', key, events: transcoder.encoded } as const;
        const idempotency = { key: `${round}`.repeat(80), payloadHash: 'f'.repeat(64) };
        const keyed = round % 2 === 0 ? command : { ...command, idempotency };
        settled.push(new Promise((resolve) => engine.pipeline.submit(keyed, resolve)));
      }
    }
    transcoder.clear();
    transcoder.take(anEvent({ entity: 'never sent'.repeat(20) }));
    expect(await Promise.all(settled)).toEqual(settled.map(() => ({ type: 'applied' })));
    for (const [key, entities] of sent) expect(entitiesOf(engine, key)).toEqual(entities);
    await engine.close();

    const again = await openTestEngine(directory, { durability }, clock);
    for (const [key, entities] of sent) expect(entitiesOf(again, key)).toEqual(entities);
    await again.close();
  });
});
