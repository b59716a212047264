import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { deduplicationKeyOf, signalsIn, verify } from '../../src/alerting/inbound.ts';
import { annotation, incident, type Json, onlySignal } from './deliveries.ts';

function changed({ event = {}, data = {} }: { readonly event?: Json; readonly data?: Json }) {
  const payload = incident();
  return { event: { ...payload.event, ...event, data: { ...payload.event.data, ...data } } };
}
const signalOf = (change: Parameters<typeof changed>[0]) => onlySignal('pagerduty', changed(change));

describe('an incident that was triggered', () => {
  it('is an alert that fires, since it was created', () => {
    expect(signalsIn('pagerduty', incident())).toEqual([
      {
        key: 'Q1EXAMPLE0INC0',
        status: 'firing',
        startedAtMs: Date.parse('2026-08-22T10:15:03Z'),
        endedAtMs: null,
        title: 'checkout-api: 5xx ratio above 5%',
        severity: 'high',
        url: 'https://example.pagerduty.com/incidents/Q1EXAMPLE0INC0',
        serviceHints: [
          { source: 'service.summary', name: 'checkout-api' },
          { source: 'service.id', name: 'PSVC0001' },
        ],
        entities: ['checkout-api/5xx', 'checkout-api', '5xx'],
      },
    ]);
  });

  it('needs nothing but its id', () => {
    const payload = { event: { event_type: 'incident.triggered', data: { id: 'Q1' } } };
    expect(onlySignal('pagerduty', payload)).toEqual({
      key: 'Q1',
      status: 'firing',
      startedAtMs: null,
      endedAtMs: null,
      title: 'incident Q1',
      severity: null,
      url: null,
      serviceHints: [],
      entities: [],
    });
    for (const id of [undefined, null, '', 5, {}, ['Q1']]) {
      expect(signalsIn('pagerduty', changed({ data: { id } }))).toEqual([]);
    }
  });

  it('is as severe as its priority, where the account gives one', () => {
    expect(signalOf({ data: { priority: { summary: 'P1', name: 'P1' } } }).severity).toBe('P1');
    expect(signalOf({ data: { priority: { name: 'SEV-2' } } }).severity).toBe('SEV-2');
    expect(signalOf({ data: { priority: { summary: 'P1', name: 'SEV-2' } } }).severity).toBe('P1');
    expect(signalOf({ data: { priority: 'P1', urgency: 'low' } }).severity).toBe('low');
  });

  it('names its service by what PagerDuty calls it, then by its id', () => {
    const service = { id: 'PSVC0001', name: 'Checkout', summary: 'checkout-api' };
    expect(signalOf({ data: { service } }).serviceHints).toEqual([
      { source: 'service.summary', name: 'checkout-api' },
      { source: 'service.name', name: 'Checkout' },
      { source: 'service.id', name: 'PSVC0001' },
    ]);
  });

  it.each([
    'javascript:alert(1)',
    'ftp://example.com/',
    'data:text/html,x',
    '//example.com',
    'not a url',
    `https://example.com/${'x'.repeat(2048)}`,
    '',
    5,
  ])('has no link where html_url is %j', (html_url) => {
    expect(signalOf({ data: { html_url } }).url).toBeNull();
  });

  it.each([
    ['2026-08-22T12:15:03+02:00', Date.parse('2026-08-22T10:15:03Z')],
    ['2026-08-22T10:15:03.123456789Z', Date.parse('2026-08-22T10:15:03.123Z')],
    ['0001-01-01T00:00:00Z', null],
    ['1999-12-31T23:59:59Z', null],
    ['2000-01-01T00:00:00Z', Date.parse('2000-01-01T00:00:00Z')],
    ['2100-01-01T00:00:00Z', null],
    ['2026-02-30T00:00:00Z', null],
    ['2026-08-22 10:15:03', null],
    ['2026-08-22T10:15:03', null],
    ['yesterday', null],
    [`2026-08-22T10:15:03.${'0'.repeat(1000)}Z`, null],
    [1787393703, null],
  ])('created at %j started at %j', (created_at, startedAtMs) => {
    expect(signalOf({ event: { occurred_at: null }, data: { created_at } }).startedAtMs).toBe(startedAtMs);
  });

  it('that does not say when it was created started when the event occurred', () => {
    const occurredAtMs = Date.parse('2026-08-22T10:15:03.412Z');
    expect(signalOf({ data: { created_at: null } }).startedAtMs).toBe(occurredAtMs);
  });

  it('is cut to lengths that can be kept, between code points', () => {
    const long = '😀'.repeat(1000);
    const signal = signalOf({
      data: { title: `x${long}`, urgency: long, incident_key: long, service: { summary: long } },
    });
    expect(signal.title).toBe(`x${'😀'.repeat(255)}`);
    expect(signal.severity).toBe('😀'.repeat(32));
    expect(signal.serviceHints).toEqual([{ source: 'service.summary', name: '😀'.repeat(256) }]);
    expect(signal.entities).toEqual(['😀'.repeat(256)]);
  });

  it('whose id is too long is known by a hash, so that two are never taken for one', () => {
    const [a, b] = ['a', 'b'].map((end) => signalOf({ data: { id: `${'x'.repeat(300)}${end}` } }).key);
    expect(a).toMatch(/^[0-9a-f]{64}$/);
    expect(b).not.toBe(a);
  });

  it('names at most 32 entities', () => {
    const incident_key = Array.from({ length: 100 }, (_, index) => `p${index}`).join('/');
    expect(signalOf({ data: { incident_key } }).entities).toHaveLength(32);
  });
});

describe('an incident that was reopened', () => {
  it('fires since it was reopened, not since it was created', () => {
    const event = { event_type: 'incident.reopened', occurred_at: '2026-08-23T08:00:01Z' };
    const reopened_at = '2026-08-23T08:00:00Z';
    expect(signalOf({ event, data: { reopened_at } })).toMatchObject({
      status: 'firing',
      startedAtMs: Date.parse(reopened_at),
      endedAtMs: null,
    });
    expect(signalOf({ event }).startedAtMs).toBe(Date.parse('2026-08-23T08:00:01Z'));
  });
});

describe('an incident that was resolved', () => {
  const event = { event_type: 'incident.resolved', occurred_at: '2026-08-22T10:40:00Z' };

  it('ended when the event occurred', () => {
    expect(signalOf({ event })).toMatchObject({
      key: 'Q1EXAMPLE0INC0',
      status: 'resolved',
      startedAtMs: Date.parse('2026-08-22T10:15:03Z'),
      endedAtMs: Date.parse('2026-08-22T10:40:00Z'),
    });
  });

  it('did not end before it started', () => {
    const early = { ...event, occurred_at: '2026-08-22T10:00:00Z' };
    expect(signalOf({ event: early }).endedAtMs).toBeNull();
  });
});

describe('any other event of PagerDuty', () => {
  it('is no alert: our own note, which comes back', () => {
    expect(signalsIn('pagerduty', annotation())).toEqual([]);
  });

  it.each([
    'incident.acknowledged',
    'incident.escalated',
    'incident.priority_updated',
    'incident.status_update_published',
    'incident.conference_bridge.updated',
    'service.created',
    'pagey.ping',
    'incident.invented',
    'INCIDENT.TRIGGERED',
    'toString',
    '',
    null,
  ])('is no alert: %j', (event_type) => {
    expect(signalsIn('pagerduty', changed({ event: { event_type } }))).toEqual([]);
  });

  it('is an alert where it does not say of what kind its data is', () => {
    for (const type of [undefined, null, 'incident'])
      expect(signalOf({ data: { type } }).key).toBe('Q1EXAMPLE0INC0');
  });

  it('is no alert where its data is of another kind, whose id is not the incident’s', () => {
    expect(signalsIn('pagerduty', changed({ data: { type: 'incident_note' } }))).toEqual([]);
  });
});

describe('a delivery of PagerDuty', () => {
  it('is known by X-Webhook-Id, the same on every retry', () => {
    expect(deduplicationKeyOf('pagerduty', { webhookId: 'w1' }, incident())).toBe('w1');
  });

  it('is known by as much of it as can be kept', () => {
    const webhookId = 'x'.repeat(256);
    expect(deduplicationKeyOf('pagerduty', { webhookId }, incident())).toBe(webhookId);
  });

  it('is known by its event where the header is missing or too long to keep', () => {
    for (const webhookId of ['', 'x'.repeat(257)]) {
      expect(deduplicationKeyOf('pagerduty', { webhookId }, incident())).toBe('01EXAMPLEEVT0000000000000A');
      for (const payload of [{}, null, { event: { id: 5 } }]) {
        expect(deduplicationKeyOf('pagerduty', { webhookId }, payload)).toBeNull();
      }
    }
  });
});

describe('a signature of PagerDuty', () => {
  const SECRET = 'pd-webhook-secret-example';
  const BODY = Buffer.from(
    '{"event":{"id":"5ac64822-4adc-4fda-ade0-410becf0de4f","event_type":"incident.triggered"}}',
  );
  const SIGNATURE = 'v1=adffd7425933cd792e41f31d70189af77a88144a3ebcf5a68f2b8c26d25a750f';
  const config = (secret: unknown) => JSON.stringify({ pagerduty_webhook_secret: secret });
  const isGenuine = (signature: string, secret: unknown = SECRET) =>
    verify('pagerduty', config(secret), signature, BODY);

  it('is the HMAC-SHA256 of the bytes', () => {
    expect(isGenuine(SIGNATURE)).toBe(true);
    expect(isGenuine(SIGNATURE, 'another-secret')).toBe(false);
    expect(verify('pagerduty', config(SECRET), SIGNATURE, Buffer.concat([BODY, Buffer.from(' ')]))).toBe(
      false,
    );
  });

  it('is one among several while the secret is rotated, in any place', () => {
    const old = `v1=${createHmac('sha256', 'the-old-secret').update(BODY).digest('hex')}`;
    expect(isGenuine(`${old},${SIGNATURE}`)).toBe(true);
    expect(isGenuine(`${SIGNATURE},${old}`)).toBe(true);
    expect(isGenuine(`${old},\t${SIGNATURE} `)).toBe(true);
    expect(isGenuine(`${old},${old}`)).toBe(false);
    expect(isGenuine(`${SIGNATURE}${old}`)).toBe(false);
  });

  it('must be of version 1, and whole', () => {
    for (const wrong of ['', ',', 'v1=', SIGNATURE.slice(3), SIGNATURE.slice(0, -1), `${SIGNATURE}0`]) {
      expect([wrong, isGenuine(wrong)]).toEqual([wrong, false]);
    }
    expect(isGenuine(SIGNATURE.replace('v1', 'v2'))).toBe(false);
    expect(isGenuine(SIGNATURE.toUpperCase())).toBe(false);
  });

  it('is asked for as soon as a secret is there, even one that cannot match', () => {
    expect(verify('pagerduty', '{}', '', BODY)).toBe(true);
    for (const secret of ['', null, 5, {}]) expect(isGenuine(SIGNATURE, secret)).toBe(false);
  });
});
