import { describe, expect, it } from 'vitest';
import { sameEntityTest } from '../../src/alerting/same-entity.ts';

const POD = 'worker-7d4f9c88b5-2xk8p';

function isNamed(entity: string, { entities = [] as readonly string[], title = '' }): boolean {
  return sameEntityTest({ serviceName: 'checkout-api', entities, title })(entity);
}

describe('an entity', () => {
  it.each([
    ['pod-a', 'pod-a'],
    ['Pod-A', 'pod-a'],
    [' pod-a ', 'pod-a'],
    ['10.2.0.49:8080', '10.2.0.49'],
    ['10.2.0.49', '10.2.0.49:8080'],
    ['10.2.0.49:8080', '10.2.0.49:9090'],
    [POD, 'worker'],
    ['worker', POD],
    ['orders-db-0', 'orders-db'],
    ['orders-db', 'orders-db-12'],
    ['checkout-api-7d4f9c88b5-2xk8p', 'checkout-api-7d4f9c88b5-2xk8p'],
  ])('%s is the one that an alert calls %s', (entity, name) => {
    expect(isNamed(entity, { entities: ['other', name] })).toBe(true);
  });

  it.each([
    ['pod-a', 'pod-b'],
    ['pod-a', 'pod'],
    ['', 'pod-a'],
    [POD, 'worker-7d4f9c88b5-9zz1q'],
    ['orders-db-0', 'orders-db-1'],
    ['checkout-worker', 'checkout'],
    ['orders-db-0-backup', 'orders-db'],
    ['10.2.0.49:8080/metrics', '10.2.0.49'],
    // What is called like the service says no more than the service.
    ['checkout-api', 'checkout-api'],
    ['checkout-api-7d4f9c88b5-2xk8p', 'checkout-api'],
    ['checkout-api', 'checkout-api-7d4f9c88b5-2xk8p'],
  ])('%s is not the one that an alert calls %s', (entity, name) => {
    expect(isNamed(entity, { entities: ['other', name] })).toBe(false);
  });

  it.each([
    ['connections', 'orders-db: too many connections', true],
    ['pod-a', 'Pod-A is down', true],
    ['pod-a', 'is (pod-a) down?', true],
    ['pod-a', 'pod-a1, then pod-a', true],
    ['pod-a', 'pod-ab is down', false],
    ['pod-a', 'my-pod-a is down', false],
    ['pod', 'the pod is down', false],
    ['disk', 'the disk is full', true],
    ['', 'the pod is down', false],
    ['checkout-api', 'checkout-api: 5xx', false],
  ])('%s is in the title "%s": %s', (entity, title, expected) => {
    expect(isNamed(entity, { title })).toBe(expected);
  });
});
