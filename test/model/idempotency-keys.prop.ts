/** The keys that are remembered, against a list that is searched from its end. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdempotencyKeys, type KnownKey } from '../../src/commands/idempotency.ts';
import { agentId, tenantId } from '../../src/domain/ids.ts';

const DAY_MS = 24 * 3600 * 1000;
const BOUNDS = { maxKeysOfTenant: 3, maxKeys: 7 };

const step = fc.record({
  afterMs: fc.constantFrom(0, 0, 0, 1, 1000, DAY_MS / 2, DAY_MS - 1, DAY_MS, DAY_MS + 1),
  tenant: fc.nat(3),
  agent: fc.nat(1),
  key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  payloadHash: fc.constantFrom('x', 'y'),
});

/** What the keys should be: those not too old, then the newest of each tenant, then the newest of all. */
class NaiveKeys {
  #known: KnownKey[] = [];

  entries(nowMs: number): KnownKey[] {
    return this.#known.filter(({ atMs }) => nowMs < atMs + DAY_MS);
  }

  remember(known: KnownKey): void {
    const isOther = ({ agentId: agent, key }: KnownKey) => agent !== known.agentId || key !== known.key;
    this.#known = [...this.#known.filter(isOther), known];
    const own = this.#known.filter(({ tenantId: tenant }) => tenant === known.tenantId);
    if (own.length > BOUNDS.maxKeysOfTenant) this.#known = this.#known.filter((each) => each !== own[0]);
    if (this.#known.length > BOUNDS.maxKeys) this.#known = this.#known.slice(1);
    this.#known = this.entries(known.atMs);
  }
}

describe('idempotency keys', () => {
  it('are those of a day, and of them the newest, of a tenant and in all', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (script) => {
        const keys = new IdempotencyKeys(BOUNDS);
        const naive = new NaiveKeys();
        let nowMs = 0;
        for (const { afterMs, tenant, agent, key, payloadHash } of script) {
          nowMs += afterMs;
          const ids = { tenantId: tenantId(`t${tenant}`), agentId: agentId(`t${tenant}-a${agent}`) };
          const known = naive.entries(nowMs).find((each) => each.agentId === ids.agentId && each.key === key);
          const verdict = keys.verdict(ids.agentId, { key, payloadHash }, nowMs);
          if (known === undefined) expect(verdict).toBe(undefined);
          else if (known.payloadHash === payloadHash) expect(verdict).toEqual({ type: 'replayed' });
          else expect(verdict).toMatchObject({ type: 'rejection', kind: 'key-reused' });
          if (verdict === undefined) {
            keys.remember({ ...ids, key, payloadHash, atMs: nowMs });
            naive.remember({ ...ids, key, payloadHash, atMs: nowMs });
          }
          expect([...keys.entries(nowMs)]).toEqual(naive.entries(nowMs));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('remembered in their order are the same again', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.array(step, { maxLength: 20 }), (script, more) => {
        const play = (keys: IdempotencyKeys, steps: typeof script, startMs: number) => {
          let nowMs = startMs;
          for (const { afterMs, tenant, agent, key, payloadHash } of steps) {
            nowMs += afterMs;
            const ids = { tenantId: tenantId(`t${tenant}`), agentId: agentId(`t${tenant}-a${agent}`) };
            keys.remember({ ...ids, key, payloadHash, atMs: nowMs });
          }
          return nowMs;
        };
        const keys = new IdempotencyKeys(BOUNDS);
        const nowMs = play(keys, script, 0);
        const restored = new IdempotencyKeys(BOUNDS);
        for (const known of keys.entries(nowMs)) restored.remember(known);
        const laterMs = play(keys, more, nowMs);
        play(restored, more, nowMs);
        expect([...restored.entries(laterMs)]).toEqual([...keys.entries(laterMs)]);
      }),
    );
  });
});
