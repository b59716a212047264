/** Lists are made in steps, and still say everything that was so before they were asked for. */
import { describe, expect, it } from 'vitest';
import { tenantId } from '../../src/domain/ids.ts';
import type { Scheduler } from '../../src/lib/scheduler.ts';
import { Lister } from '../../src/queries/lister.ts';
import { Listing } from '../../src/queries/listing.ts';
import { Snapshots } from '../../src/snapshots/snapshots.ts';

const TENANT = tenantId('t1');

/** Steps that run when they are told to. */
class Steps implements Scheduler {
  readonly #tasks: (() => void)[] = [];

  after(): () => void {
    throw new Error('lists set no timers');
  }

  soon(task: () => void): void {
    this.#tasks.push(task);
  }

  /** How many ran. */
  run(limit: number): number {
    for (let step = 0; step < limit; step += 1) {
      const task = this.#tasks.shift();
      if (task === undefined) return step;
      task();
    }
    return limit;
  }
}

/** Things that have a number, which changes without a mark, and a name, which does not. */
class World {
  readonly things = new Map<string, { name: string; number: number }>();
  readonly snapshots = new Snapshots((_tenant, _table, id) => this.things.get(id)?.name);
  readonly steps = new Steps();
  readonly lister = new Lister(this.steps);
  made = 0;

  constructor(count: number) {
    for (let n = 0; n < count; n += 1) this.put(`thing-${n}`, 0);
  }

  put(id: string, number: number): void {
    this.things.set(id, { name: `"${id}"`, number });
    this.snapshots.changed(TENANT, 'services', id);
  }

  remove(id: string): void {
    this.things.delete(id);
    this.snapshots.changed(TENANT, 'services', id);
  }

  listing(): Listing {
    return new Listing({
      snapshots: this.snapshots,
      tenantId: TENANT,
      table: 'services',
      now: () => 0,
      entry: (row, id) => {
        const thing = this.things.get(id);
        this.made += 1;
        return thing && `[${row},${thing.number}]`;
      },
    });
  }

  /** The list that is asked for now, once it is there. */
  ask(): { list: [string, number][] | undefined } {
    const answer: { list: [string, number][] | undefined } = { list: undefined };
    this.lister.ask(this.listing(), (json) => {
      answer.list = JSON.parse(json.toString());
    });
    return answer;
  }

  get expected(): [string, number][] {
    return [...this.things].map(([id, { number }]) => [id, number]);
  }
}

const EVERYTHING = 10_000;

describe('a short list', () => {
  it('is there at once', () => {
    const world = new World(50);
    expect(world.ask().list).toEqual(world.expected);
  });

  it('of nothing is an empty array', () => {
    expect(new World(0).ask().list).toEqual([]);
  });

  it('is there at once beside a long one', () => {
    const long = new World(3000);
    long.ask();
    long.steps.run(2);
    const other = new Listing({
      snapshots: long.snapshots,
      tenantId: TENANT,
      table: 'agents',
      now: () => 0,
      entry: () => undefined,
    });
    let json = '';
    long.lister.ask(other, (bytes) => {
      json = bytes.toString();
    });
    expect(json).toBe('[]');
  });
});

describe('a long list', () => {
  it('is made in steps of which none is long, in the order of appearance', () => {
    const world = new World(5000);
    const answer = world.ask();
    expect(answer.list).toBeUndefined();
    let steps = 0;
    let madeBefore = 0;
    while (world.steps.run(1) === 1) {
      steps += 1;
      expect(world.made - madeBefore).toBeLessThanOrEqual(200);
      madeBefore = world.made;
    }
    // Changes that wait to be projected take most of them.
    expect(steps).toBeGreaterThanOrEqual(5000 / 200 + 5000 / 25);
    expect(answer.list).toEqual(world.expected);
  });

  it('says what was written before it was asked for, also where another is being made', () => {
    const world = new World(3000);
    const first = world.ask();
    // The first entries of the first list are made by now.
    world.steps.run(EVERYTHING);
    const second = world.ask();
    world.steps.run(2);
    expect(second.list).toBeUndefined();
    world.put('thing-0', 7);
    world.put('new', 1);
    const third = world.ask();
    world.steps.run(EVERYTHING);
    expect(first.list?.[0]).toEqual(['thing-0', 0]);
    expect(second.list?.[0]).toEqual(['thing-0', 0]);
    expect(third.list).toEqual(world.expected);
    expect(third.list?.at(-1)).toEqual(['new', 1]);
  });

  it('is made once for all who ask before it is begun', () => {
    const world = new World(3000);
    world.ask();
    world.steps.run(EVERYTHING);
    world.made = 0;
    const answers = Array.from({ length: 20 }, () => world.ask());
    world.steps.run(EVERYTHING);
    for (const { list } of answers) expect(list).toEqual(world.expected);
    expect(world.made).toBe(3000);
  });

  it('leaves out what is gone when its turn comes', () => {
    const world = new World(3000);
    world.ask();
    world.steps.run(EVERYTHING);
    const answer = world.ask();
    world.steps.run(2);
    world.remove('thing-2999');
    world.steps.run(EVERYTHING);
    expect(answer.list).toEqual(world.expected);
  });

  it('comes to an end, whatever changes meanwhile', () => {
    const world = new World(2000);
    const answer = world.ask();
    for (let n = 0; n < 500 && answer.list === undefined; n += 1) {
      for (let each = 0; each < 100; each += 1) world.put(`more-${n}-${each}`, n);
      world.steps.run(1);
    }
    expect(answer.list?.slice(0, 2000)).toEqual(world.expected.slice(0, 2000));
  });
});
