/** What is sent, when, and what waits for what: the dispatcher over a clock that stands still. */
import { afterEach, describe, expect, it } from 'vitest';
import { StopStack } from '../../src/lib/stop-stack.ts';
import type { CallResult } from '../../src/outbound/call-result.ts';
import { anEvent } from '../support/engine.ts';
import { answered, Dispatching, lost, PAGERDUTY_API, PAGERDUTY_EVENTS } from './dispatching.ts';

const made = new StopStack();
afterEach(() => made.run());

const ACCOUNT = { pagerduty_token: 'u+token', pagerduty_from: 'ops@example.com' };
const BOTH = { ...ACCOUNT, pagerduty_routing_key: '0123456789abcdef0123456789abcdef' };
const silence = () => new Promise<CallResult>(() => {});

function asked({ requests }: Dispatching): string[] {
  return requests.map(({ method, url }) => `${method} ${url.replace(PAGERDUTY_API, '')}`);
}

const textOf = ({ requests }: Dispatching) => requests.at(-1)?.body ?? '';

describe('a note', () => {
  it('is made once, and updated when there is more to say', async () => {
    const site = await Dispatching.start(made);
    const id = await site.integrate('pagerduty', ACCOUNT);
    const alert = await site.incident(id, 'Q1');
    await site.look();
    await site.correlate(alert, 4);
    await site.look();
    await site.look();
    expect(asked(site)).toEqual(['POST /incidents/Q1/notes', 'PUT /incidents/Q1/notes/PNOTE1']);
    expect(textOf(site)).toContain('deploy checkout-api → v4');
  });

  it('is not touched where the second look finds what the first found', async () => {
    const site = await Dispatching.start(made);
    const id = await site.integrate('pagerduty', ACCOUNT);
    const alert = await site.incident(id, 'Q1');
    await site.correlate(alert, 4);
    await site.look();
    await site.engine.submit({
      ...{ type: 'correlate-alert', tenantId: site.tenantId, alertId: alert, match: null },
      candidates:
        site.engine.state.tenants.get(site.tenantId)?.alerts.alerts.get(alert)?.context.candidates ?? [],
    });
    await site.look();
    expect(asked(site)).toEqual(['POST /incidents/Q1/notes']);
  });

  it('stays about the latest time the incident fired, though an earlier one is looked at once more', async () => {
    const site = await Dispatching.start(made);
    const id = await site.integrate('pagerduty', ACCOUNT);
    const first = await site.incident(id, 'Q1');
    await site.look(5000);
    await site.resolve(id, 'Q1');
    const again = await site.incident(id, 'Q1', site.engine.clock.now() + 10_000);
    await site.correlate(again, 2);
    await site.look();
    await site.correlate(first, 9);
    await site.look();
    expect(asked(site)).toHaveLength(2);
    expect(textOf(site)).toContain('→ v2');
    expect(site.deliveries(id)).toMatchObject([{ state: 'delivered', subject: { alertId: again } }]);
  });

  it('says what is new after it was sent, where that came while it was sent', async () => {
    const site = await Dispatching.start(made);
    const id = await site.integrate('pagerduty', ACCOUNT);
    const alert = await site.incident(id, 'Q1');
    let settle: (result: CallResult) => void = () => {};
    site.peer = () => new Promise((resolve) => (settle = resolve));
    await site.look();
    await site.correlate(alert, 3);
    await site.look();
    expect(asked(site)).toEqual(['POST /incidents/Q1/notes']);
    site.peer = () => answered(200, { note: { id: 'PNOTE1' } });
    settle(answered(200, { note: { id: 'PNOTE1' } }));
    await site.look();
    await site.look();
    expect(asked(site)).toEqual(['POST /incidents/Q1/notes', 'PUT /incidents/Q1/notes/PNOTE1']);
    expect(textOf(site)).toContain('→ v3');
  });

  it('is looked for before it is made again, where nobody knows whether it was made', async () => {
    const site = await Dispatching.start(made);
    const id = await site.integrate('pagerduty', ACCOUNT);
    await site.incident(id, 'Q1');
    site.peer = () => lost;
    await site.look();
    const { content } = JSON.parse(textOf(site)).note;
    site.peer = ({ method }) =>
      method === 'GET'
        ? answered(200, { notes: [{ id: 'PMADE', content }] })
        : answered(200, { note: { id: 'PMADE' } });
    await site.look(2000);
    await site.look(2000);
    expect(asked(site)).toEqual([
      'POST /incidents/Q1/notes',
      'GET /incidents/Q1/notes',
      'PUT /incidents/Q1/notes/PMADE',
    ]);
    expect(site.deliveries(id)).toMatchObject([{ state: 'delivered', noteId: 'PMADE', isInDoubt: false }]);
  });

  it('bears a mark of its own, though another integration writes about the same incident', async () => {
    const site = await Dispatching.start(made);
    for (const token of ['one', 'another']) {
      await site.incident(await site.integrate('pagerduty', { ...ACCOUNT, pagerduty_token: token }), 'Q1');
    }
    await site.look();
    const marks = site.requests.map(({ body }) =>
      JSON.parse(body ?? '')
        .note.content.split('\n')
        .at(-1),
    );
    expect(marks).toEqual([expect.stringMatching(/^foreshock Q1 /), expect.stringMatching(/^foreshock Q1 /)]);
    expect(marks[0]).not.toBe(marks[1]);
  });

  it('is one, though two integrations of one account tell of the incident', async () => {
    const site = await Dispatching.start(made);
    const first = await site.integrate('pagerduty', ACCOUNT);
    const second = await site.integrate('pagerduty', ACCOUNT);
    await site.incident(second, 'Q1');
    await site.incident(first, 'Q1');
    await site.look();
    expect(asked(site).filter((line) => line.startsWith('POST'))).toHaveLength(1);
    expect(site.deliveries(first)).toHaveLength(1);
    expect(site.deliveries(second)).toEqual([]);
  });

  it('is taken for lost on its way a while after the process that sent it has died', async () => {
    const site = await Dispatching.start(made);
    const id = await site.integrate('pagerduty', ACCOUNT);
    await site.incident(id, 'Q1');
    const [{ id: outboundId } = { id: undefined }] = site.deliveries(id);
    if (outboundId === undefined) throw new Error('nothing is to be sent');
    await site.engine.submit({ type: 'start-attempt', tenantId: site.tenantId, outboundId });
    await site.look(14_000);
    expect(site.deliveries(id)).toMatchObject([{ state: 'sending' }]);
    await site.look(2000);
    expect(site.deliveries(id)).toMatchObject([{ state: 'waiting', isInDoubt: true }]);
    site.peer = ({ method }) =>
      method === 'GET' ? answered(200, { notes: [] }) : answered(200, { note: { id: 'P2' } });
    await site.look(2000);
    await site.look();
    expect(asked(site)).toEqual(['GET /incidents/Q1/notes', 'POST /incidents/Q1/notes']);
  });

  it('waits for no change event, however many of them hang', async () => {
    const site = await Dispatching.start(made);
    const id = await site.integrate('pagerduty', BOTH);
    site.peer = ({ url }) =>
      url.startsWith(PAGERDUTY_EVENTS) ? silence() : answered(200, { note: { id: 'P' } });
    await site.record(Array.from({ length: 5 }, (_, n) => anEvent({ entity: `e${n}` })));
    await site.look();
    await site.incident(id, 'Q1');
    await site.look();
    expect(asked(site).at(-1)).toBe('POST /incidents/Q1/notes');
  });

  it('finds room where change events have filled the queue', async () => {
    const site = await Dispatching.start(made);
    const id = await site.integrate('pagerduty', BOTH);
    site.peer = ({ url }) =>
      url.startsWith(PAGERDUTY_EVENTS) ? silence() : answered(200, { note: { id: 'P' } });
    await site.record(Array.from({ length: 1200 }, (_, n) => anEvent({ entity: `e${n}` })));
    const refused = site.deliveries(id).filter(({ state }) => state === 'dead-lettered');
    expect(refused).toHaveLength(200);
    expect(refused[0]?.detail).toBe('not sent: 1000 deliveries of the integration wait already');
    await site.incident(id, 'Q1');
    await site.look();
    expect(asked(site).at(-1)).toBe('POST /incidents/Q1/notes');
  });
});

describe('an integration', () => {
  it('that is slow has two calls under way at most, and keeps no other waiting', async () => {
    const site = await Dispatching.start(made);
    const slow = await site.integrate('pagerduty', ACCOUNT);
    const quick = await site.integrate('pagerduty', { ...ACCOUNT, pagerduty_token: 'another' });
    site.peer = ({ url }) => (url.includes('slow') ? silence() : answered(200, { note: { id: 'P' } }));
    for (let n = 0; n < 6; n += 1) await site.incident(slow, `slow-${n}`);
    await site.look();
    await site.incident(quick, 'quick');
    await site.look();
    expect(asked(site)).toHaveLength(3);
    expect(site.deliveries(quick)).toMatchObject([{ state: 'delivered' }]);
  });

  it('that is deleted while it sends leaves nothing behind, and nobody is surprised by the answer', async () => {
    const site = await Dispatching.start(made);
    const id = await site.integrate('pagerduty', ACCOUNT);
    await site.incident(id, 'Q1');
    let settle: (result: CallResult) => void = () => {};
    site.peer = () => new Promise((resolve) => (settle = resolve));
    await site.look();
    await site.engine.submit({ type: 'delete-integration', tenantId: site.tenantId, integrationId: id });
    settle(lost);
    await site.look();
    await site.look(60_000);
    expect(asked(site)).toHaveLength(1);
    expect(site.deliveries(id)).toEqual([]);
  });

  it('whose token is changed between two attempts sends the new one', async () => {
    const site = await Dispatching.start(made);
    const id = await site.integrate('pagerduty', ACCOUNT);
    await site.incident(id, 'Q1');
    site.peer = () => answered(429);
    await site.look();
    await site.configure(id, { ...ACCOUNT, pagerduty_token: 'u+other' });
    await site.look(2000);
    expect(site.requests.map(({ headers }) => headers['authorization'])).toEqual([
      'Token token=u+token',
      'Token token=u+other',
    ]);
  });

  it('whose token is taken away between two attempts gives up and says what is missing', async () => {
    const site = await Dispatching.start(made);
    const id = await site.integrate('pagerduty', ACCOUNT);
    await site.incident(id, 'Q1');
    site.peer = () => answered(503);
    await site.look();
    await site.configure(id, {});
    await site.look(2000);
    expect(site.requests).toHaveLength(1);
    expect(site.deliveries(id)).toMatchObject([
      { state: 'dead-lettered', detail: 'pagerduty_token is missing in the config of the integration' },
    ]);
  });
});

describe('a peer that asks for time', () => {
  it.each([
    ['Retry-After', new Map([['retry-after', '7']])],
    ['ratelimit-reset', new Map([['ratelimit-reset', '7']])],
  ])('is given it: %s', async (_, headers) => {
    const site = await Dispatching.start(made);
    const id = await site.integrate('pagerduty', ACCOUNT);
    await site.incident(id, 'Q1');
    site.peer = () => ({ type: 'answered', status: 429, headers, body: '', complete: true });
    await site.look();
    site.peer = () => answered(200, { note: { id: 'P' } });
    await site.look(6999);
    expect(site.requests).toHaveLength(1);
    await site.look(1);
    expect(site.requests).toHaveLength(2);
    // It said that it had done nothing, so there is nothing to look for.
    expect(asked(site)[1]).toBe('POST /incidents/Q1/notes');
  });

  it('is tried for a day, less and less often, and then no more', async () => {
    const site = await Dispatching.start(made);
    const id = await site.integrate('pagerduty', ACCOUNT);
    await site.incident(id, 'Q1');
    site.peer = () => ({ type: 'failed', reason: 'no connection: ECONNREFUSED', sent: false });
    for (let minute = 0; minute < 26 * 60; minute += 1) await site.look(60_000);
    expect(site.deliveries(id)).toMatchObject([
      { state: 'dead-lettered', detail: 'given up after a day: no connection: ECONNREFUSED' },
    ]);
    expect(site.requests.length).toBeGreaterThan(90);
    expect(site.requests.length).toBeLessThan(220);
  }, 60_000);
});
