/** The engine, with its log, its timers and its snapshots, answers as the model does. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anEvent } from '../support/engine.ts';
import { Rig, type RigSettings } from './rig.ts';
import {
  actStep,
  checkpointStep,
  clockStep,
  housekeepStep,
  reclaimStep,
  restartStep,
  type Step,
  tenantIdOf,
  togetherStep,
} from './script.ts';

/** Every run writes and syncs real files, which other tests may be doing too. */
const SLOW_DISK = { timeout: 180_000 };

const settings: fc.Arbitrary<RigSettings> = fc.record({
  windowMaxEvents: fc.constantFrom(1, 2, 3, 5, 10_000, 10_000),
  // A few details, what one event can come to, and no bound.
  windowMaxBytes: fc.constantFrom(30, 200, 64 * 1024, 8 * 1024 * 1024, 8 * 1024 * 1024),
  retentionSeconds: fc.constantFrom(3600, 7200, 86_400),
  agentStaleAfterSeconds: fc.constantFrom(1, 60, 120),
  // Of 700 bytes a segment holds a record or two.
  segmentBytes: fc.constantFrom(700, 8192, 64 * 1024 * 1024),
  checkpointSegments: fc.constantFrom(1, 1, 3),
  durability: fc.constantFrom('write', 'fsync'),
});

const steps = (tenants: number): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      { weight: 30, arbitrary: actStep(tenants) },
      { weight: 3, arbitrary: togetherStep(tenants) },
      { weight: 10, arbitrary: clockStep },
      { weight: 6, arbitrary: reclaimStep },
      { weight: 3, arbitrary: housekeepStep },
      { weight: 3, arbitrary: checkpointStep },
      { weight: 2, arbitrary: restartStep },
    ),
    { maxLength: 60, size: 'max' },
  );

/** Agents that are there from the start, so that not every script has to begin with them. */
const arrivals = (tenants: readonly number[]): Step[] =>
  tenants.map((tenant) => ({
    type: 'act',
    tenant,
    deed: { type: 'register', agent: 0, hostname: 'db-1', name: null, version: null },
  }));

describe('the engine equals the model', () => {
  it('whatever happens, whenever the timers run, and after a restart', SLOW_DISK, async () => {
    await fc.assert(
      fc.asyncProperty(
        settings,
        steps(2),
        // How many steps pass between two looks: lists that nobody asks for are not projected.
        fc.record({ details: fc.integer({ min: 1, max: 8 }), lists: fc.integer({ min: 1, max: 30 }) }),
        async (chosen, script, everySteps) => {
          const tenants = [0, 1];
          await Rig.run(chosen, tenants, async (rig) => {
            for (const [index, step] of [...arrivals(tenants), ...script].entries()) {
              await rig.take(step);
              if (index % everySteps.details === 0) rig.checkDetails();
              if (index % everySteps.lists === 0) rig.checkLists();
            }
            rig.checkAll();
            await rig.restart();
          });
        },
      ),
      { numRuns: 120 },
    );
  });
});

describe('a replay of more commands than it replays in one go', () => {
  it('gives every answer that there was before', SLOW_DISK, async () => {
    const limits = { windowMaxEvents: 100, windowMaxBytes: 8 * 1024 * 1024, retentionSeconds: 3600 };
    const agents = { agentStaleAfterSeconds: 120 };
    const files = { segmentBytes: 64 * 1024, checkpointSegments: 4, durability: 'write' } as const;
    await Rig.run({ ...limits, ...agents, ...files }, [0], async (rig) => {
      for (const step of arrivals([0])) await rig.take(step);
      for (let n = 0; n < 5000; n += 1) {
        // What lives long and what does not, in turn; every so often more than a window holds.
        const ttlSeconds = n % 3 === 0 ? 86_400 : 1 + (n % 500);
        const event = anEvent({ serviceName: n % 5 === 0 ? 'api' : 'db', entity: `pod ${n}`, ttlSeconds });
        await rig.take({ type: 'act', tenant: 0, deed: { type: 'record', agent: 0, events: [event] } });
        await rig.take({ type: 'clock', stepMs: n % 1000 === 0 ? 400_000 : 1000 });
      }
      await rig.restart();
    });
  });
});

describe('a tenant beside another', () => {
  it('gets byte for byte the answers it would get alone', SLOW_DISK, async () => {
    await fc.assert(
      fc.asyncProperty(settings, steps(3), fc.integer({ min: 1, max: 8 }), async (chosen, script, every) => {
        const ours = tenantIdOf(0);
        const answers = async (tenants: readonly number[]): Promise<string[][]> => {
          const looks: string[][] = [];
          await Rig.run(chosen, tenants, async (rig) => {
            for (const step of arrivals(tenants)) await rig.take(step);
            for (const [index, step] of script.entries()) {
              const isOurs = !('tenant' in step) || tenants.includes(step.tenant);
              // A restart forgets the time since the last command, whose ever it was, of a clock set back.
              if (step.type === 'restart') await rig.take({ type: 'catch-up' });
              if (isOurs) await rig.take(step);
              if (index % every === 0) looks.push(rig.texts(ours));
            }
          });
          return looks;
        };
        const alone = await answers([0]);
        const together = await answers([0, 1, 2]);
        for (const [look, texts] of alone.entries()) {
          for (const [n, text] of texts.entries()) expect(together[look]?.[n]).toBe(text);
          expect(together[look]).toHaveLength(texts.length);
        }
      }),
      { numRuns: 50 },
    );
  });
});
