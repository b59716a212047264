/** Services are found by the bytes of their names, and keep what is theirs, as a Map of names would have it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServiceContext } from '../../src/actors/service.ts';
import { Service, Services } from '../../src/commands/services.ts';
import type { TenantRef } from '../../src/commands/tenant-ref.ts';
import { type AgentNumber, serviceIdOf, tenantId } from '../../src/domain/ids.ts';
import { ListRows } from '../../src/windows/list-rows.ts';

const START_MS = 1_760_000_000_000;

class Registry {
  readonly #rows = new ListRows();
  readonly #services: Services;
  readonly #owner: readonly TenantRef[];
  /** By tenant and name. */
  readonly known: readonly Map<string, Service>[];

  constructor(tenants: number, areHashedAlike: boolean) {
    this.#services = areHashedAlike ? new Services(this.#rows, () => 7) : new Services(this.#rows);
    const numbers = Array.from({ length: tenants }, (_, number) => number);
    this.#owner = numbers.map((number) => ({
      id: tenantId(`0000000${number}-0000-4000-8000-000000000000`),
      number,
    }));
    this.known = numbers.map(() => new Map());
  }

  add(tenant: number, name: string, context: ServiceContext): void {
    const owner = this.owner(tenant);
    const service = new Service(
      this.#services,
      owner,
      serviceIdOf(owner.id, name),
      name,
      this.#rows.create(),
    );
    this.#services.add(service, tenant + 10, context);
    this.known[tenant]?.set(name, service);
  }

  /** Looks a name up where it stands between others. */
  find(tenant: number, name: string, offset: number) {
    const bytes = Buffer.from(`${'-'.repeat(offset)}${name}behind`);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    return this.#services.find(this.owner(tenant), view, offset, bytes.length - 'behind'.length);
  }

  record(service: Service, context: ServiceContext): void {
    const { agent, lastEventAtMs: timestampMs, updatedAtMs: receivedAtMs } = context;
    this.#services.advance(service.window, { type: 'event-recorded', agent, timestampMs, receivedAtMs });
  }

  nameNumberOf({ window }: Service): number {
    return this.#services.nameNumberOf(window);
  }

  owner(number: number): TenantRef {
    const owner = this.#owner[number];
    if (owner === undefined) throw new Error('no such tenant');
    return owner;
  }
}

/** Long ones that differ where a row has no more room for them, some not ASCII, some what others are as code units. */
const name = fc
  .tuple(
    fc.constantFrom('', 'a', 'b', 'é', 'Ã©', 'ab', 'service-'),
    fc.constantFrom(0, 0, 1, 2, 38, 39, 40, 41, 42, 43, 44, 45, 46, 90),
    fc.constantFrom('', 'x', 'y', '\0', '-00000001', 'ü', 'Ã¼', 'Êº', 'ʺ', '😀'),
  )
  .map(([first, length, last]) => `${first}${'-'.repeat(length)}${last}` || 'x');
const step = fc.record({
  what: fc.constantFrom('add', 'find', 'find', 'record'),
  tenant: fc.integer({ min: 0, max: 2 }),
  name,
  offset: fc.integer({ min: 0, max: 9 }),
  agent: fc.integer({ min: 0, max: 2 ** 32 - 1 }).map((number) => number as AgentNumber),
  atMs: fc.integer({ min: 0, max: START_MS }),
});

describe('services', () => {
  it('are found by name, each of its own tenant, with what was last recorded, however they hash', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(step, { maxLength: 200, size: 'max' }), (areHashedAlike, steps) => {
        const registry = new Registry(3, areHashedAlike);
        const contexts = new Map<Service, ServiceContext>();
        for (const { what, tenant, name, offset, agent, atMs } of steps) {
          const context = { agent, lastEventAtMs: atMs, updatedAtMs: atMs + 0.5 };
          const service = registry.known[tenant]?.get(name);
          if (what === 'add' && service === undefined) registry.add(tenant, name, context);
          if (what === 'record' && service !== undefined) registry.record(service, context);
          const known = registry.known[tenant]?.get(name);
          if (known !== undefined && (what === 'record' || service === undefined)) {
            const before = contexts.get(known)?.lastEventAtMs ?? 0;
            contexts.set(known, { ...context, lastEventAtMs: Math.max(before, atMs) });
          }
          expect(registry.find(tenant, name, offset)).toBe(known?.window);
        }
        for (const [service, context] of contexts) {
          expect(service.context).toEqual(context);
          expect(registry.nameNumberOf(service)).toBe(service.tenant.number + 10);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('are found also when they have become many, and no window of one is that of another', () => {
    const registry = new Registry(2, false);
    const names = Array.from({ length: 5000 }, (_, n) => `service-${n}`);
    for (const tenant of [0, 1]) {
      for (const [n, name] of names.entries())
        registry.add(tenant, name, { agent: n as AgentNumber, lastEventAtMs: n, updatedAtMs: n });
    }
    const windows = [0, 1].flatMap((tenant) => names.map((name) => registry.find(tenant, name, 0)));
    expect(new Set(windows).size).toBe(2 * names.length);
    for (const known of registry.known)
      expect([...known.values()].map(({ context }) => context.agent)).toEqual([...names.keys()]);
    expect([0, 1].map((tenant) => registry.find(tenant, 'service-5000', 0))).toEqual([undefined, undefined]);
  });
});
