/** Incidents as those on call know them, and what they would want to be told first. */
import { describe, expect, it } from 'vitest';
import { type Alert, causesOf, happened, type Told } from './past.ts';

/** The ids of the candidates, best first. */
function told(story: readonly (Told & { readonly id: string })[], alert: Alert = {}): readonly string[] {
  return causesOf(story.map(happened), alert).map(({ event }) => event.id);
}

describe('errors after a bad deploy', () => {
  const deploy = {
    eventType: 'deploy',
    oldValue: '1f2e9a40',
    newValue: '9a8b77c1',
    sha: '9a8b77c1',
  } as const;

  it('are put down to the deploy, though its pods restart and a circuit opens right before the page', () => {
    const story = [
      { id: 'restart', eventType: 'restart', entity: 'checkout-api-7d4f9c-2xk8p', minutesBefore: 1 },
      { id: 'circuit', eventType: 'circuit_open', entity: 'stripe', minutesBefore: 0.5 },
      { id: 'deploy', ...deploy, minutesBefore: 4 },
    ] as const;
    expect(told(story)).toEqual(['deploy', 'restart', 'circuit']);
  });

  it('say why: the same service, before the start, and still live', () => {
    expect(causesOf([happened({ id: 'd', ...deploy, minutesBefore: 4 })])).toEqual([
      {
        event: expect.objectContaining({ id: 'd' }),
        minutesBefore: 4,
        score: 0.592,
        reasons: ['same_service', 'changed_before_start', 'still_live'],
        occurrences: 1,
      },
    ]);
  });

  it('are put down to one deploy that its controller reported twice, as begun and as done', () => {
    const [candidate, ...others] = causesOf([
      happened({ eventType: 'deploy', sha: '9a8b77c1', confidence: 0.7, minutesBefore: 5 }),
      happened({ eventType: 'deploy', sha: '9a8b77c1', confidence: 0.95, minutesBefore: 4 }),
      happened({ eventType: 'restart', entity: 'checkout-api-7d4f9c-2xk8p', minutesBefore: 1 }),
    ]);
    expect(candidate).toMatchObject({ event: { eventType: 'deploy' }, minutesBefore: 5, occurrences: 2 });
    expect(candidate?.reasons).toContain('repeated');
    expect(others).toHaveLength(1);
  });

  it('are put down to the deploy that changed something, not to a self-heal of the same revision', () => {
    const story = [
      { id: 'self-heal', ...deploy, oldValue: '9a8b77c1', minutesBefore: 1 },
      { id: 'deploy', ...deploy, minutesBefore: 12 },
    ] as const;
    expect(told(story)).toEqual(['deploy', 'self-heal']);
  });
});

describe('errors after a switch of a flag or a parameter', () => {
  it('are put down to it, and not to the deploy of half an hour ago', () => {
    const story = [
      { id: 'deploy', eventType: 'deploy', sha: '9a8b77c1', minutesBefore: 30 },
      {
        id: 'flag',
        eventType: 'flag_change',
        entity: 'new-checkout',
        oldValue: 'off',
        newValue: 'on',
        minutesBefore: 2,
      },
    ] as const;
    expect(told(story)).toEqual(['flag', 'deploy']);
  });

  it('are not put down to a parameter that only takes effect after a restart', () => {
    const change = { eventType: 'flag_change', vendor: 'postgresql', minutesBefore: 2 } as const;
    const story = [
      { id: 'pending', ...change, entity: 'shared_buffers', newValue: '8GB', confidence: 0.3 },
      { id: 'effective', ...change, entity: 'work_mem', newValue: '64kB', confidence: 0.95 },
    ];
    expect(told(story)).toEqual(['effective', 'pending']);
  });

  it('go by the last of several switches, when it was switched back in between', () => {
    const on = { eventType: 'flag_change', entity: 'new-checkout', oldValue: 'off', newValue: 'on' } as const;
    const off = { ...on, oldValue: 'on', newValue: 'off' };
    const story = [
      { id: 'on', ...on, minutesBefore: 40 },
      { id: 'off', ...off, minutesBefore: 30 },
      { id: 'on again', ...on, minutesBefore: 3 },
    ];
    expect(told(story)).toEqual(['on again', 'off']);
    const onceMore = { id: 'once more, after the page', ...on, minutesBefore: -0.5 };
    for (const order of [
      [onceMore, ...story],
      [...story, onceMore],
    ]) {
      expect(told(order)).toEqual(['on again', 'off']);
    }
  });
});

describe('a database that is out of connections', () => {
  const circuit = {
    id: 'circuit',
    eventType: 'circuit_open',
    entity: 'orders-db:5432',
    newValue: 'open',
    minutesBefore: 1,
  } as const;
  const saturation = {
    id: 'saturation',
    serviceName: 'orders-db',
    vendor: 'postgresql',
    eventType: 'saturation',
    entity: 'connections',
    newValue: 'sorry, too many clients already',
    minutesBefore: 3,
  } as const;

  it('is found where only the app pages, through the circuit that names it', () => {
    expect(told([circuit, saturation])).toEqual(['saturation', 'circuit']);
    const [first, second] = causesOf([circuit, saturation].map(happened));
    expect(first?.reasons).toEqual(['dependency', 'changed_before_start', 'still_live']);
    expect(second?.reasons).toEqual(['same_service', 'changed_before_start', 'still_live']);
  });

  it('is put down to the limit that somebody lowered', () => {
    const lowered = {
      ...saturation,
      id: 'lowered',
      eventType: 'flag_change',
      entity: 'max_connections',
      oldValue: '400',
      newValue: '100',
      minutesBefore: 9,
    } as const;
    expect(told([circuit, saturation, lowered])).toEqual(['lowered', 'saturation', 'circuit']);
  });

  it('is found in any way that the app may call it', () => {
    for (const entity of [
      'orders-db',
      'orders-db:5432',
      'postgres://app:secret@orders-db:5432/orders?sslmode=require',
      'orders-db.payments.svc',
      'orders-db.payments.svc.cluster.local:5432',
      'could not connect to "orders-db": timeout',
      'dial tcp: lookup orders-db.payments.svc.cluster.local: no such host',
      '[orders-db]',
      '  orders-db  ',
      'lost: orders-db...',
      'lost ...orders-db:5432/orders',
      'https://user@orders-db/a/b?c',
    ]) {
      expect([entity, told([{ ...circuit, entity }, saturation])[0]]).toEqual([entity, 'saturation']);
      const inNewValue = { ...circuit, entity: 'pool', newValue: entity };
      expect([entity, told([inNewValue, saturation])[0]]).toEqual([entity, 'saturation']);
    }
  });

  it('is not found in names that only resemble it', () => {
    for (const entity of [
      'orders',
      'orders-db-2',
      'x/orders-db:5432x',
      'orders-db.payments.svcs',
      'my-orders-db',
      'orders-db.example.com',
      'orders-dbs:5432',
    ]) {
      expect([entity, told([{ ...circuit, entity }, saturation])]).toEqual([entity, ['circuit']]);
    }
  });

  it('is not looked for by a word of a sentence that happens to be a service', () => {
    const search = { ...saturation, serviceName: 'search' };
    const sentence = { ...circuit, entity: 'pool', newValue: 'the search for a connection timed out' };
    expect(told([sentence, search])).toEqual(['circuit']);
    expect(told([{ ...sentence, newValue: 'search' }, search])).toEqual(['saturation', 'circuit']);
    expect(told([{ ...sentence, newValue: 'GET http://search/q timed out' }, search])[0]).toBe('saturation');
  });

  it('is not looked for by a deploy or a flag that names it: these change the app', () => {
    const flag = { id: 'flag', eventType: 'flag_change', entity: 'orders-db', minutesBefore: 1 } as const;
    expect(told([flag, saturation])).toEqual(['flag']);
  });
});

describe('a dependency that is down, two steps away', () => {
  const failure = (serviceName: string, entity: string, minutesBefore: number) =>
    ({
      id: `${serviceName} fails`,
      serviceName,
      eventType: 'dependency_failure',
      entity,
      minutesBefore,
    }) as const;
  const deploy = (serviceName: string, minutesBefore: number) =>
    ({
      id: `${serviceName} deploy`,
      serviceName,
      eventType: 'deploy',
      sha: '9a8b77c1',
      minutesBefore,
    }) as const;
  const chain = [failure('checkout-api', 'payments-api', 1), failure('payments-api', 'ledger', 2)];

  it('is found by its deploy', () => {
    expect(told([...chain, deploy('ledger', 5)])[0]).toBe('ledger deploy');
  });

  it('counts less the further away it is', () => {
    const names = ['checkout-api', 'payments-api', 'ledger'];
    const deploys = names.map((name) => deploy(name, 5));
    const ranked = told([...chain, ...deploys.toReversed()]);
    expect(ranked.slice(0, 3)).toEqual(names.map((name) => `${name} deploy`));
  });

  it('is not followed to a third step', () => {
    const story = [...chain, failure('ledger', 'vault', 3), deploy('vault', 5)];
    expect(told(story)).not.toContain('vault deploy');
    expect(told(story)).toContain('ledger fails');
  });

  it('is looked at once, though the services blame each other in a circle', () => {
    const circle = [
      ...chain,
      failure('ledger', 'checkout-api', 1),
      deploy('checkout-api', 5),
      deploy('ledger', 5),
    ];
    const ranked = told(circle);
    expect(new Set(ranked).size).toBe(ranked.length);
    expect(ranked.slice(0, 2)).toEqual(['checkout-api deploy', 'ledger deploy']);
  });

  it('is as near as the nearest way to it', () => {
    const far = causesOf([...chain, deploy('ledger', 5)].map(happened));
    const direct = { ...failure('checkout-api', 'ledger', 4), id: 'direct' };
    const near = causesOf([...chain, direct, deploy('ledger', 5)].map(happened));
    expect(near[0]?.event.id).toBe('ledger deploy');
    expect(near[0]?.score).toBeGreaterThan(far[0]?.score ?? 1);
    const doubtful = happened({ ...direct, confidence: 0.1 });
    expect(causesOf([doubtful, ...[...chain, deploy('ledger', 5)].map(happened)])[0]?.score).toBe(
      far[0]?.score,
    );
  });

  it('counts less where the agent that names it is not sure', () => {
    const doubtful = chain.map((link) => ({ ...link, confidence: 0.5 }));
    const score = (links: readonly Told[]) =>
      causesOf([...links, deploy('ledger', 5)].map(happened)).find(
        ({ event }) => event.eventType === 'deploy',
      )?.score;
    expect(score(doubtful)).toBeLessThan(score(chain) ?? 0);
  });
});

describe('pods', () => {
  const restart = { eventType: 'restart', vendor: 'kubernetes', newValue: 'CrashLoopBackOff' } as const;
  const crash = (pod: string, minutesBefore: number) =>
    happened({ ...restart, id: `${pod} ${minutesBefore}`, entity: pod, minutesBefore, liveMinutes: 10 });

  it('that have been flapping for an hour are one candidate each, as old as their first crash', () => {
    const crashes = Array.from({ length: 12 }, (_, index) => crash('pod-a', 58 - index * 5));
    const deploy = happened({ id: 'deploy', eventType: 'deploy', minutesBefore: 40 });
    const [first, second] = causesOf([...crashes, deploy]);
    expect(first?.event.id).toBe('deploy');
    expect(second).toMatchObject({ minutesBefore: 58, occurrences: 12 });
    expect(second?.reasons).toEqual(['same_service', 'changed_before_start', 'still_live', 'repeated']);
  });

  it('that began to crash just before the alert come before those that always do', () => {
    const always = Array.from({ length: 8 }, (_, index) => crash('pod-a', 58 - index * 7));
    const now = [crash('pod-b', 2), crash('pod-b', 1)];
    expect(causesOf([...always, ...now]).map(({ event }) => event.entity)).toEqual(['pod-b', 'pod-a']);
  });

  it('that the alert names come before those it does not', () => {
    const story = [crash('checkout-7d4f9c-2xk8p', 3), crash('checkout-7d4f9c-9zz1q', 2)];
    const [first, second] = causesOf(story, { entities: ['checkout-7d4f9c-2xk8p'] });
    expect(first).toMatchObject({ event: { entity: 'checkout-7d4f9c-2xk8p' } });
    expect(first?.reasons).toContain('same_entity');
    expect(second?.reasons).not.toContain('same_entity');
  });
});

describe('autoscaling', () => {
  const scaled = (minutesBefore: number, change: Partial<Told>) =>
    ({ eventType: 'deploy', vendor: 'kubernetes', minutesBefore, ...change }) as const;

  it('around a deploy does not hide it', () => {
    const story = [
      { id: 'deploy', ...scaled(14, { oldValue: '1f2e9a40', newValue: '9a8b77c1' }) },
      { id: 'up', ...scaled(3, { oldValue: '3', newValue: '5', actor: 'horizontal-pod-autoscaler' }) },
      { id: 'up again', ...scaled(2, { newValue: 'Scaled up replica set checkout-api-6b9f8d from 5 to 8' }) },
      { id: 'down', ...scaled(1, { oldValue: '8 replicas', newValue: '4 replicas' }) },
      { id: 'evicted', ...scaled(1, { actor: 'karpenter' }), eventType: 'restart' },
    ] as const;
    expect(told(story)[0]).toBe('deploy');
    for (const { event, reasons } of causesOf(story.map(happened))) {
      expect([event.id, reasons.includes('autoscaling')]).toEqual([event.id, event.id !== 'deploy']);
    }
  });

  it('is not what a rollout does: a replica set that comes up from nothing is new', () => {
    for (const change of [
      { newValue: 'Scaled up replica set checkout-api-6b9f8d from 0 to 1' },
      { newValue: 'Scaled up replica set checkout-api-6b9f8d to 1' },
      { oldValue: '0', newValue: '3' },
      { oldValue: '41', newValue: '42', sha: '9a8b77c1' },
      { oldValue: 'v41', newValue: 'v42' },
    ]) {
      const [candidate] = causesOf([happened(scaled(5, change))]);
      expect([change, candidate?.reasons]).toEqual([
        change,
        ['same_service', 'changed_before_start', 'still_live'],
      ]);
    }
  });

  it('is not what somebody does who sets a number', () => {
    const change = {
      eventType: 'flag_change',
      entity: 'pool_size',
      oldValue: '20',
      newValue: '200',
    } as const;
    expect(causesOf([happened({ ...change, minutesBefore: 5 })])[0]?.reasons).not.toContain('autoscaling');
  });
});

describe('what came too late, or too early', () => {
  it('leaves nothing, where nothing changed', () => {
    expect(causesOf([])).toEqual([]);
    expect(told([{ id: 'other', serviceName: 'billing', eventType: 'deploy', minutesBefore: 1 }])).toEqual(
      [],
    );
  });

  it('is no cause: a deploy after the alert began, the fix perhaps', () => {
    expect(told([{ id: 'fix', eventType: 'deploy', minutesBefore: -5 }])).toEqual([]);
  });

  it('may be a symptom noticed a minute late, and says that it came after', () => {
    const late = happened({ eventType: 'saturation', minutesBefore: -0.9 });
    expect(causesOf([late])[0]).toMatchObject({
      minutesBefore: -0.9,
      reasons: ['same_service', 'still_live'],
    });
    expect(causesOf([happened({ eventType: 'saturation', minutesBefore: -1 })])).toHaveLength(1);
    expect(causesOf([happened({ eventType: 'saturation', minutesBefore: -1.01 })])).toEqual([]);
  });

  it('does not go before what came in time', () => {
    const story = [
      { id: 'deploy after', eventType: 'deploy', minutesBefore: -0.5 },
      { id: 'restart before', eventType: 'restart', minutesBefore: 8 },
    ] as const;
    expect(told(story)).toEqual(['restart before', 'deploy after']);
  });

  it('is judged as of the start, when the alert itself arrives late', () => {
    const story = [
      { id: 'cause', eventType: 'deploy', sha: 'aaaaaaaa', minutesBefore: 5 },
      { id: 'rollback', eventType: 'deploy', sha: 'bbbbbbbb', minutesBefore: -20 },
      { id: 'next', eventType: 'deploy', sha: 'cccccccc', minutesBefore: -40 },
    ] as const;
    expect(told(story)).toEqual(['cause']);
  });

  it('is left out once its TTL passed more than the lookback before the start', () => {
    const deploy = { id: 'deploy', eventType: 'deploy', minutesBefore: 100 } as const;
    expect(told([{ ...deploy, liveMinutes: 40 }])).toEqual(['deploy']);
    expect(told([{ ...deploy, liveMinutes: 39.9 }])).toEqual([]);
    expect(told([{ ...deploy, minutesBefore: 3000, liveMinutes: 6000 }])).toEqual(['deploy']);
  });

  it('counts less once its TTL has passed: it is no longer still live, to the millisecond', () => {
    const at = (liveMinutes: number) =>
      causesOf([happened({ eventType: 'deploy', minutesBefore: 10, liveMinutes })])[0];
    expect(at(10)?.reasons).toEqual(['same_service', 'changed_before_start']);
    expect(at(10 + 1 / 60_000)?.reasons).toContain('still_live');
    expect(at(10)?.score).toBeLessThan(at(11)?.score ?? 0);
  });
});

describe('an old deploy and a fresh flag', () => {
  it('stand in the order in which an engineer would look at them, whatever else is the same', () => {
    const story = [
      { id: 'deploy of an hour ago', eventType: 'deploy', sha: '9a8b77c1', minutesBefore: 59 },
      { id: 'flag of now', eventType: 'flag_change', newValue: 'on', minutesBefore: 1 },
      { id: 'deploy of now', eventType: 'deploy', sha: '1f2e9a40', minutesBefore: 1 },
    ] as const;
    expect(told(story)).toEqual(['deploy of now', 'flag of now', 'deploy of an hour ago']);
  });
});

describe('a hundred things at once', () => {
  it('are told up to the twentieth', () => {
    const story = Array.from({ length: 100 }, (_, index) => {
      const id = `restart ${String(index).padStart(2, '0')}`;
      return { id, eventType: 'restart', entity: `pod-${index}`, minutesBefore: index / 10 } as const;
    });
    expect(told(story.toReversed())).toEqual(story.slice(0, 20).map(({ id }) => id));
  });

  it('that are the same count less than one that is not', () => {
    const same = Array.from({ length: 100 }, (_, index) => ({
      id: `same ${index}`,
      eventType: 'saturation',
      entity: 'connections',
      minutesBefore: 5 - index / 100,
    })) satisfies readonly Told[];
    const other = { id: 'other', eventType: 'saturation', entity: 'disk', minutesBefore: 5 } as const;
    const [first, second] = causesOf([...same, other].map(happened));
    expect(first?.event.id).toBe('other');
    expect(second).toMatchObject({ event: { id: 'same 0' }, occurrences: 100 });
    expect(second?.score).toBe(Math.round((first?.score ?? 0) * 0.3 * 1000) / 1000);
  });

  it('and two thousand more do not hide a deploy', () => {
    const pods = Array.from({ length: 3000 }, (_, index) => {
      // The later they happened, the later they stand, in whichever order they are looked at.
      const [entity, minutesBefore] = [`pod-${9999 - index}`, 10 + index / 600];
      return happened({ id: entity, eventType: 'restart', entity, minutesBefore });
    });
    const deploy = happened({ id: 'the deploy', eventType: 'deploy', minutesBefore: 20 });
    const ranked = causesOf([...pods.toReversed(), deploy]);
    expect(ranked.slice(0, 3).map(({ event }) => event.id)).toEqual(['the deploy', 'pod-9999', 'pod-9998']);
  });

  it('are weighed up to the two thousandth: the nearest to the start, then by id', () => {
    const restarts = Array.from({ length: 3000 }, (_, index) =>
      happened({
        id: `restart ${10_000 + index}`,
        eventType: 'restart',
        minutesBefore: index < 1999 ? 5 : 9,
      }),
    );
    for (const events of [restarts, restarts.toReversed()]) {
      const [candidate] = causesOf(events);
      expect(candidate).toMatchObject({ occurrences: 2000, event: { id: 'restart 11999' } });
    }
  });

  it('that are as likely stand in the order of their ids', () => {
    const story = ['a', 'b', 'c'].map(
      (id) => ({ id, eventType: 'restart', entity: id, minutesBefore: 5 }) as const,
    );
    expect(told(story)).toEqual(['a', 'b', 'c']);
    expect(told(story.toReversed())).toEqual(['a', 'b', 'c']);
  });

  it('that fail at once lead to the sixteen surest dependencies, and no further', () => {
    const names = Array.from({ length: 40 }, (_, index) => `service-${String(index).padStart(2, '0')}`);
    const failures = names.map((entity, index) =>
      happened({ eventType: 'circuit_open', entity, confidence: 0.5 + index / 100, minutesBefore: 50 }),
    );
    const deploys = names.map((serviceName) =>
      happened({ serviceName, eventType: 'deploy', minutesBefore: 1 }),
    );
    const reached = causesOf([...failures, ...deploys]).filter(({ event }) => event.eventType === 'deploy');
    expect(reached.map(({ event }) => event.serviceName)).toEqual(names.slice(24).toReversed());
  });

  it('that fail as surely lead to the first sixteen dependencies by name, in whatever order they failed', () => {
    const names = Array.from({ length: 40 }, (_, index) => `service-${index + 10}`);
    const deploys = names.map((serviceName) =>
      happened({ serviceName, eventType: 'deploy', minutesBefore: 1 }),
    );
    for (const order of [names, names.toReversed()]) {
      const failures = order.map((entity) =>
        happened({ eventType: 'circuit_open', entity, minutesBefore: 50 }),
      );
      const reached = causesOf([...failures, ...deploys]).flatMap(({ event }) =>
        event.eventType === 'deploy' ? [event.serviceName] : [],
      );
      expect(reached.toSorted()).toEqual(names.slice(0, 16));
    }
  });
});
