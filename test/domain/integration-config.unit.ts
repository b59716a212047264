import { describe, expect, it } from 'vitest';
import { DIRECTIONS } from '../../src/domain/integration.ts';
import { readConfig, sendsOf } from '../../src/domain/integration-config.ts';
import { member } from '../../src/domain/json-member.ts';

const HOUR_MS = 3_600_000;
const read = (config: unknown) => readConfig(JSON.stringify(config));

describe('the config of an integration', () => {
  it('is read for what we know', () => {
    const config = {
      pagerduty_token: 'u+1',
      pagerduty_from: 'a@example.com',
      pagerduty_routing_key: 'R1',
      alertmanager_url: 'http://am:9093',
      service_map: { Checkout: 'checkout-api' },
      lookback_seconds: 90,
      another: true,
    };
    expect(read(config)).toEqual({
      pagerdutyToken: 'u+1',
      pagerdutyFrom: 'a@example.com',
      pagerdutyRoutingKey: 'R1',
      alertmanagerUrl: 'http://am:9093',
      serviceMap: { Checkout: 'checkout-api' },
      lookbackMs: 90_000,
    });
  });

  it.each([{}, { pagerduty_token: '', alertmanager_url: 7 }, [], null, 'text', 7])(
    'has nothing where it says nothing: %j',
    (config) => {
      expect(read(config)).toEqual({
        pagerdutyToken: null,
        pagerdutyFrom: null,
        pagerdutyRoutingKey: null,
        alertmanagerUrl: null,
        serviceMap: undefined,
        lookbackMs: HOUR_MS,
      });
    },
  );

  it.each([
    [0.5, 500],
    [86_400, 24 * HOUR_MS],
    [86_401, HOUR_MS],
    [0, HOUR_MS],
    [-1, HOUR_MS],
    ['90', HOUR_MS],
    [null, HOUR_MS],
  ])('looks back for up to a day, and else for an hour: %j', (seconds, lookbackMs) => {
    expect(read({ lookback_seconds: seconds }).lookbackMs).toBe(lookbackMs);
  });
});

describe('an integration sends', () => {
  const everything = read({
    pagerduty_token: 'u+1',
    pagerduty_routing_key: 'R1',
    alertmanager_url: 'http://am:9093',
  });
  const nothing = { notes: false, changeEvents: false, staleAgents: false };

  it.each(DIRECTIONS)('only outwards: %s', (direction) => {
    const pagerduty = sendsOf({ type: 'pagerduty', direction }, everything);
    const alertmanager = sendsOf({ type: 'alertmanager', direction }, everything);
    const sends = direction !== 'inbound';
    expect(pagerduty).toEqual({ notes: sends, changeEvents: sends, staleAgents: false });
    expect(alertmanager).toEqual({ notes: false, changeEvents: false, staleAgents: sends });
  });

  it('what it has the means for', () => {
    const to = (type: 'pagerduty' | 'alertmanager', config: object) =>
      sendsOf({ type, direction: 'outbound' }, read(config));
    expect(to('pagerduty', { pagerduty_token: 'u+1' })).toEqual({ ...nothing, notes: true });
    expect(to('pagerduty', { pagerduty_routing_key: 'R1' })).toEqual({ ...nothing, changeEvents: true });
    expect(to('alertmanager', {})).toEqual(nothing);
  });
});

describe('a member', () => {
  it('is what an object itself has', () => {
    expect(member({ a: 1 }, 'a')).toBe(1);
    expect(member([5], '0')).toBe(5);
    expect(member(JSON.parse('{"__proto__": 1}'), '__proto__')).toBe(1);
  });

  it.each([[{}], [{ b: 1 }], [null], [undefined], ['a'], [7], [Object.create({ a: 1 })]])(
    'is undefined of all else: %j',
    (value) => {
      expect(member(value, 'a')).toBeUndefined();
      expect(member(value, 'toString')).toBeUndefined();
      expect(member(value, 'length')).toBeUndefined();
    },
  );
});
