import { describe, expect, it } from 'vitest';
import { matchService } from '../../src/alerting/matching.ts';

const SERVICES = ['checkout-api', 'orders-db', 'Search', 'SEARCH', '__proto__', 'Straße'];

function match(hints: Readonly<Record<string, string>>, serviceMap: unknown = {}) {
  const list = Object.entries(hints).map(([source, name]) => ({ source, name }));
  return matchService(
    list,
    serviceMap,
    (name) => SERVICES.includes(name),
    () => SERVICES,
  );
}
const matched = (serviceName: string, source: string, via: string, exact = true) => ({
  type: 'matched',
  serviceName,
  source,
  via,
  exact,
});
const unmatched = (reason: string) => ({ type: 'unmatched', reason });

describe('an alert', () => {
  it('is about the service that goes by its name', () => {
    const expected = matched('checkout-api', 'labels.service', 'name');
    expect(match({ 'labels.service': 'checkout-api', 'labels.job': 'orders-db' })).toEqual(expected);
  });

  it('is about the first of its names that is a service', () => {
    const expected = matched('orders-db', 'labels.job', 'name');
    expect(match({ 'labels.service': 'unheard-of', 'labels.job': 'orders-db' })).toEqual(expected);
  });

  it('is about the service that the operator maps its name to, though a service has that name too', () => {
    const expected = matched('orders-db', 'labels.service', 'service_map');
    expect(match({ 'labels.service': 'checkout-api' }, { 'checkout-api': 'orders-db' })).toEqual(expected);
    const byId = match(
      { 'service.summary': 'Checkout (prod)', 'service.id': 'PSVC1' },
      { PSVC1: 'checkout-api' },
    );
    expect(byId).toEqual(matched('checkout-api', 'service.id', 'service_map'));
  });

  it('is not about a less telling name because that one is mapped', () => {
    const hints = { 'labels.service': 'checkout-api', 'labels.job': 'kubernetes-pods' };
    const expected = matched('checkout-api', 'labels.service', 'name');
    expect(match(hints, { 'kubernetes-pods': 'orders-db' })).toEqual(expected);
  });

  it('is about none where the operator maps it to one that is none, and says so', () => {
    const hints = { 'labels.service': 'checkout-api', 'labels.job': 'orders-db' };
    expect(match(hints, { 'checkout-api': 'chekout' })).toEqual(
      unmatched('config.service_map maps labels.service "checkout-api" to "chekout": no such service'),
    );
  });

  it('is about a service that differs in upper and lower case, if only one does', () => {
    expect(match({ 'labels.app': 'Checkout-API' })).toEqual(
      matched('checkout-api', 'labels.app', 'name', false),
    );
    expect(match({ 'labels.app': 'x' }, { x: 'ORDERS-DB' })).toEqual(
      matched('orders-db', 'labels.app', 'service_map', false),
    );
    expect(match({ 'labels.app': 'search' }).type).toBe('unmatched');
    expect(match({ 'labels.app': 'SEARCH' })).toEqual(matched('SEARCH', 'labels.app', 'name'));
  });

  it('is rather about a name that fits exactly than about a more telling one that does not', () => {
    const hints = { 'labels.service': 'CHECKOUT-API', 'labels.job': 'orders-db' };
    expect(match(hints)).toEqual(matched('orders-db', 'labels.job', 'name'));
  });

  it('says what was tried', () => {
    expect(match({ 'labels.service': 'x', 'labels.job': 'y' })).toEqual(
      unmatched('tried labels.service "x", labels.job "y": no such service; map one in config.service_map'),
    );
    expect(match({})).toEqual(unmatched('the alert names no service'));
  });

  it('quotes names on one line, and not at any length', () => {
    const result = match({ 'labels.app': `a\n\u202eb${'x'.repeat(500)}` });
    expect(result).toEqual(
      unmatched(`tried labels.app "a b${'x'.repeat(76)}…": no such service; map one in config.service_map`),
    );
  });
});

describe('a service_map', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['text', 'checkout-api'],
    ['a list', ['orders-db']],
    ['a number for a name', { 'checkout-api': 5 }],
    ['an object for a name', { 'checkout-api': { name: 'orders-db' } }],
    ['an empty name', { 'checkout-api': '' }],
    ['a name too long for a service', { 'checkout-api': 'x'.repeat(513) }],
    ['an inherited name', Object.create({ 'checkout-api': 'orders-db' })],
  ])('that is %s changes nothing', (_, serviceMap) => {
    const expected = matched('checkout-api', 'labels.app', 'name');
    expect(match({ 'labels.app': 'checkout-api' }, serviceMap)).toEqual(expected);
  });

  it('holds names that mean something to JavaScript like any other', () => {
    for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
      expect(match({ 'labels.app': name })).toMatchObject({ type: 'unmatched' });
    }
    const expected = matched('__proto__', 'labels.app', 'name');
    expect(match({ 'labels.app': '__proto__' })).toEqual(expected);
    const hostile = JSON.parse('{"__proto__":"orders-db"}');
    expect(match({ 'labels.app': '__proto__' }, hostile)).toEqual(
      matched('orders-db', 'labels.app', 'service_map'),
    );
  });
});
