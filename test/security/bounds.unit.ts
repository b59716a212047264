/** What a tenant's tools can make grow has its bounds, and at them nothing of another is lost. */
import { describe, expect, it } from 'vitest';
import { AlertBook } from '../../src/commands/alert-book.ts';
import { Inbox } from '../../src/commands/inbox.ts';
import { Outbox } from '../../src/commands/outbox.ts';
import type { Alert } from '../../src/domain/alert.ts';
import { alertId, deliveryId, integrationId, outboundId } from '../../src/domain/ids.ts';

const OURS = integrationId('ours');
const THEIRS = integrationId('theirs');

describe('deliveries that come in', () => {
  const delivery = (n: number, bodyJson = '{}') => ({
    id: deliveryId(`d-${n}`),
    integrationId: OURS,
    receivedAtMs: n,
    bodyJson,
  });

  it('wait in a number that is bounded, and in bytes', () => {
    const many = new Inbox();
    for (let n = 0; n < 1000; n += 1) {
      expect(many.isFull).toBe(false);
      many.take(delivery(n), null, 0);
    }
    expect(many.isFull).toBe(true);
    many.done(deliveryId('d-5'));
    expect(many.isFull).toBe(false);

    const large = new Inbox();
    for (let n = 0; n < 64; n += 1) large.take(delivery(n, 'x'.repeat(1024 * 1024)), null, 0);
    expect(large.isFull).toBe(true);
  });

  it('are remembered by their ids up to a number, the newest of each integration', () => {
    const inbox = new Inbox();
    inbox.remember(THEIRS, 'theirs', 0, 1e9);
    for (let n = 0; n < 10_000; n += 1) inbox.remember(OURS, `id-${n}`, n, 1e9);
    expect([...inbox.remembered(10_000)]).toHaveLength(4096 + 1);
    expect(inbox.has(OURS, 'id-9999', 10_000)).toBe(true);
    expect(inbox.has(OURS, 'id-0', 10_000)).toBe(false);
    expect(inbox.has(THEIRS, 'theirs', 10_000)).toBe(true);
  });
});

describe('alerts', () => {
  const alert = (n: number, status: Alert['status']): Alert => ({
    id: alertId(`a-${n}`),
    integrationId: OURS,
    tool: 'pagerduty',
    status,
    receivedAtMs: n,
    resolvedAtMs: status === 'resolved' ? n : null,
    key: `key-${n}`,
    startedAtMs: n,
    title: 'slow',
    severity: null,
    url: null,
    serviceHints: [],
    entities: [],
    match: { type: 'unmatched', reason: 'it names no service' },
    candidates: [],
    isSettled: false,
  });

  it('are kept up to a number; those that are over leave first', () => {
    const book = new AlertBook();
    for (let n = 0; n < 10_000; n += 1) book.add(alert(n, n === 50 ? 'resolved' : 'firing'));
    book.add(alert(10_000, 'firing'));
    expect([book.alerts.size, book.firingCount]).toEqual([10_000, 10_000]);
    expect(book.alerts.has(alertId('a-50'))).toBe(false);
    book.add(alert(10_001, 'firing'));
    expect([book.alerts.size, book.firingCount, book.unsettled.size]).toEqual([10_000, 10_000, 10_000]);
    expect(book.alerts.has(alertId('a-0'))).toBe(false);
  });
});

describe('ends that were told of before what they end', () => {
  it('are remembered up to a number, the newest', () => {
    const book = new AlertBook();
    for (let n = 0; n < 5000; n += 1) book.endEarly(alertId(`a-${n}`), 1000 + n);
    expect(book.earlyEnds.size).toBe(1000);
    expect(book.earlyEnds.get(alertId('a-0'))).toBeUndefined();
    expect(book.earlyEnds.get(alertId('a-4999'))).toBe(5999);
  });
});

describe('deliveries that go out', () => {
  it('wait in a number that is bounded, of each integration; what is more is told as not sent', () => {
    const outbox = new Outbox();
    const note = (n: number) => ({ type: 'note', alertId: alertId(`a-${n}`), incident: `P${n}` }) as const;
    for (let n = 0; n < 10_000; n += 1) outbox.want(outboundId(`o-${n}`), OURS, note(n), n);
    outbox.want(outboundId('theirs'), THEIRS, note(0), 0);
    expect(outbox.waiting.size).toBe(2000 + 1);
    expect(outbox.deliveries.size).toBe(2000 + 1000 + 1);
    const last = outbox.deliveries.get(outboundId('o-9999'));
    expect(last?.context.detail).toBe('not sent: 2000 deliveries of the integration wait already');
    expect(outbox.waiting.has(outboundId('theirs'))).toBe(true);
  });
});
