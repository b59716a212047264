/** The cache of services finds what the Maps hold, whatever has been looked up before. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ServiceCache } from '../../src/commands/service-cache.ts';

interface Service {
  readonly tenant: object;
  readonly name: string;
}

class Tenant {
  readonly servicesByName = new Map<string, Service>();
  readonly number: number;

  constructor(number: number) {
    this.number = number;
  }

  add(name: string): void {
    this.servicesByName.set(name, { tenant: this, name });
  }
}

/** Many of the same end, some of them not ASCII, some what the bytes of another are as code units. */
const name = fc
  .tuple(
    fc.constantFrom('', 'a', 'b', 'é', 'Ã©', 'ab', 'service-'),
    fc.constantFrom('', 'payments', 'checkout', '-00000001', 'ü', 'Ã¼', 'Êº', 'ʺ', '😀'),
  )
  .map((parts) => parts.join('') || 'x');
const step = fc.record({
  what: fc.constantFrom('add', 'get', 'get', 'get'),
  tenant: fc.integer({ min: 0, max: 2 }),
  name,
});

it('takes no name for another whose bytes are its code units', () => {
  const cache = new ServiceCache<Service>(1, 1);
  const tenant = new Tenant(0);
  for (const name of ['Ã©', 'é', 'Ã©']) {
    const bytes = Buffer.from(name);
    if (name !== 'é') tenant.add(name);
    expect(cache.get(tenant, bytes, 0, bytes.length)?.name).toBe(name === 'é' ? undefined : name);
  }
});

it('finds what the tenant has, and nothing of another', () => {
  fc.assert(
    fc.property(fc.constantFrom(1, 16), fc.array(step, { maxLength: 200 }), (maxPlaces, steps) => {
      const cache = new ServiceCache<Service>(1, maxPlaces);
      const tenants = [new Tenant(0), new Tenant(1), new Tenant(2)];
      for (const { what, tenant: number, name } of steps) {
        const tenant = tenants[number];
        if (tenant === undefined) throw new Error('no such tenant');
        const bytes = Buffer.from(`before${name}behind`);
        const end = bytes.length - 'behind'.length;
        if (what === 'add' && !tenant.servicesByName.has(name)) tenant.add(name);
        expect(cache.get(tenant, bytes, 'before'.length, end)).toBe(tenant.servicesByName.get(name));
      }
    }),
    { numRuns: 500 },
  );
});
