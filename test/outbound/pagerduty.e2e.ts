/** Requests, calls and verdicts together, against a PagerDuty that fails in every way it can. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventId } from '../../src/domain/ids.ts';
import type { CallResult, OutboundRequest, Refused } from '../../src/outbound/call-result.ts';
import { call } from '../../src/outbound/http-call.ts';
import { type Change, sendChangeEvent } from '../../src/outbound/pagerduty-change-event.ts';
import {
  createNote,
  findNote,
  listNotes,
  MAX_NOTE_LIST_BYTES,
  updateNote,
} from '../../src/outbound/pagerduty-notes.ts';
import { type Verdict, verdictOf } from '../../src/outbound/verdict.ts';
import { type FakeFailure, type FakePagerDuty, startFakePagerDuty } from '../support/fake-pagerduty.ts';
import { entries } from './entries.ts';
import { aRequest } from './raw-peer.ts';

const LIMITS = { deadlineMs: 250, connectMs: 200, maxAnswerBytes: MAX_NOTE_LIST_BYTES };
const NOTE = { text: 'what changed', marker: 'Foreshock alert 1' };
const CONTENT = 'what changed\n\nForeshock alert 1';

const CHANGE: Change = {
  id: '0197a000-0000-7000-8000-000000000001' as EventId,
  serviceName: 'checkout-api',
  eventType: 'deploy',
  vendor: 'argocd',
  entity: 'checkout',
  oldValue: null,
  newValue: null,
  actor: null,
  sha: '9ab2f00d',
  confidence: 0.95,
  timestampMs: Date.UTC(2026, 7, 22, 10, 12),
  receivedAtMs: Date.UTC(2026, 7, 22, 10, 12, 1),
  expiresAtMs: Date.UTC(2026, 7, 22, 11, 12, 1),
};

let pagerduty: FakePagerDuty;
beforeEach(async () => {
  pagerduty = await startFakePagerDuty({ incidents: ['Q1'] });
});
afterEach(async () => {
  await pagerduty.stop();
});

const account = () => ({ baseUrl: pagerduty.url, token: pagerduty.token, from: pagerduty.from });

async function send(
  request: OutboundRequest | Refused,
  limits = LIMITS,
): Promise<{ readonly result: CallResult; readonly verdict: Verdict }> {
  if (request.type === 'refused') throw new Error(request.reason);
  const result = await call(request, entries('127.0.0.1'), { limits });
  return { result, verdict: verdictOf(request, result) };
}

const create = async (limits = LIMITS) => (await send(createNote(account(), 'Q1', NOTE), limits)).verdict;

async function find() {
  const { result } = await send(listNotes(account(), 'Q1'));
  if (result.type !== 'answered') throw new Error(JSON.stringify(result));
  return findNote(result, NOTE.marker);
}

describe('a note', () => {
  it('is created, found, updated, and missed when it was deleted', async () => {
    expect(await find()).toEqual({ type: 'absent' });
    expect(await create()).toEqual({ type: 'delivered', status: 200, noteId: 'PNOTE1' });
    expect(await find()).toEqual({ type: 'found', noteId: 'PNOTE1' });
    expect(pagerduty.notes('Q1')).toEqual([{ id: 'PNOTE1', content: CONTENT }]);

    const update = () => send(updateNote(account(), 'Q1', 'PNOTE1', { ...NOTE, text: 'what more' }));
    expect((await update()).verdict).toMatchObject({ type: 'delivered' });
    expect(pagerduty.notes('Q1')).toEqual([{ id: 'PNOTE1', content: 'what more\n\nForeshock alert 1' }]);

    pagerduty.deleteNote('Q1', 'PNOTE1');
    expect((await update()).verdict).toEqual({ type: 'gone', detail: 'answered 404: Not Found' });
    expect(pagerduty.violations).toEqual([]);
  });

  it('of an incident that is not there is dead', async () => {
    const { verdict } = await send(createNote(account(), 'Q2', NOTE));
    expect(verdict).toEqual({ type: 'dead', detail: 'answered 404: Not Found' });
  });

  it('with a wrong token or an unknown user is dead', async () => {
    const wrongToken = await send(createNote({ ...account(), token: 'y_wrong' }, 'Q1', NOTE));
    expect(wrongToken.verdict).toEqual({ type: 'dead', detail: 'answered 401: Authentication failed' });
    const wrongUser = await send(createNote({ ...account(), from: 'who@example.com' }, 'Q1', NOTE));
    expect(wrongUser.verdict).toEqual({ type: 'dead', detail: 'answered 400: Requester User Not Found' });
    expect(pagerduty.violations).toEqual([]);
  });

  it.each<[string, FakeFailure, Partial<Verdict>, 'stored' | 'not stored']>([
    [
      'a limit is reached',
      { type: 'rate-limited', resetSeconds: 20 },
      { type: 'retry', afterMs: 20_000, inDoubt: false },
      'not stored',
    ],
    [
      'a proxy asks to wait',
      { type: 'retry-after', seconds: 3 },
      { type: 'retry', afterMs: 3000, inDoubt: false },
      'not stored',
    ],
    ['access is denied', { type: 'status', status: 403 }, { type: 'dead' }, 'not stored'],
    ['the account lacks an ability', { type: 'status', status: 402 }, { type: 'dead' }, 'not stored'],
    [
      'it takes too long over there',
      { type: 'status', status: 408 },
      { type: 'retry', inDoubt: true },
      'not stored',
    ],
    ['it breaks over there', { type: 'status', status: 500 }, { type: 'retry', inDoubt: true }, 'not stored'],
    ['it is down', { type: 'status', status: 503 }, { type: 'retry', inDoubt: true }, 'not stored'],
    ['no answer comes', { type: 'no-answer' }, { type: 'retry', inDoubt: true }, 'not stored'],
    ['the connection is reset at once', { type: 'reset-before-reading' }, { type: 'retry' }, 'not stored'],
    [
      'the connection is reset after the request',
      { type: 'reset-after-reading' },
      { type: 'retry', inDoubt: true },
      'not stored',
    ],
    ['the answer is lost', { type: 'reset-after-storing' }, { type: 'retry', inDoubt: true }, 'stored'],
    [
      'the answer is too slow',
      { type: 'slow-body-after-storing' },
      { type: 'delivered', noteId: null },
      'stored',
    ],
    [
      'the answer is too long',
      { type: 'huge-body-after-storing' },
      { type: 'delivered', noteId: null },
      'stored',
    ],
  ])('is judged rightly when %s', async (_, failure, verdict, stored) => {
    pagerduty.failNext(failure);
    expect(await create({ ...LIMITS, maxAnswerBytes: 10_000 })).toMatchObject(verdict);
    expect(pagerduty.notes('Q1')).toHaveLength(stored === 'stored' ? 1 : 0);
    // Whoever is in doubt looks, and what is there is found.
    const finding = stored === 'stored' ? { type: 'found', noteId: 'PNOTE1' } : { type: 'absent' };
    expect(await find()).toEqual(finding);
    expect(pagerduty.violations).toEqual([]);
  });

  it('is found in the longest list that there can be', async () => {
    for (let note = 1; note < 2000; note += 1) {
      pagerduty.addNote('Q1', `${'x'.repeat(1500)} ${note}`);
    }
    await create();
    expect(await find()).toEqual({ type: 'found', noteId: 'PNOTE2000' });
  });
});

describe('a change event', () => {
  const events = () => ({ baseUrl: pagerduty.url, routingKey: pagerduty.routingKey });

  it('arrives as it is documented', async () => {
    const { verdict } = await send(sendChangeEvent(events(), CHANGE, 'https://foreshock.example/'));
    expect(verdict).toMatchObject({ type: 'delivered', status: 202 });
    expect(pagerduty.changeEvents).toMatchObject([
      { payload: { summary: 'Deploy of checkout-api (checkout): 9ab2f00d', source: 'checkout-api' } },
    ]);
    expect(pagerduty.violations).toEqual([]);
  });

  it('of the longest texts arrives too', async () => {
    const long = '"😀\u0001'.repeat(1365);
    const change = {
      ...CHANGE,
      serviceName: long,
      entity: long,
      vendor: long,
      oldValue: long,
      newValue: long,
      actor: long,
    };
    expect((await send(sendChangeEvent(events(), change, null))).verdict.type).toBe('delivered');
    expect(pagerduty.violations).toEqual([]);
  });

  it('with a wrong routing key is dead, and the key is not repeated', async () => {
    const routingKey = 'f'.repeat(32);
    const { verdict } = await send(sendChangeEvent({ ...events(), routingKey }, CHANGE, null));
    expect(verdict).toEqual({
      type: 'dead',
      detail: 'answered 400: Event object is invalid; Invalid routing key',
    });
  });
});

describe('the fake', () => {
  const headers = () => ({
    authorization: `Token token=${pagerduty.token}`,
    accept: 'application/vnd.pagerduty+json;version=2',
    from: pagerduty.from,
    'content-type': 'application/json',
  });
  const body = '{"note":{"content":"x"}}';

  it.each<[string, Partial<OutboundRequest>, Readonly<Record<string, string>>]>([
    ['no Accept', {}, { accept: '*/*' }],
    ['no From', {}, { from: 'nobody' }],
    ['another way of authorization', {}, { authorization: 'Bearer x' }],
    ['another media type', {}, { 'content-type': 'text/plain' }],
    ['an empty note', { body: '{"note":{"content":""}}' }, {}],
    ['a field that there is not', { body: '{"note":{"content":"x","id":"1"}}' }, {}],
    ['another method', { method: 'PUT' }, {}],
  ])('takes %s for a violation', async (_, changes, changedHeaders) => {
    const request = aRequest(`${pagerduty.url}/incidents/Q1/notes`, {
      body,
      headers: { ...headers(), ...changedHeaders },
      ...changes,
    });
    const { result } = await send(request);
    expect(result).toMatchObject({ type: 'answered' });
    expect(pagerduty.violations).toHaveLength(1);
    expect(pagerduty.notes('Q1')).toEqual([]);
  });

  it('takes an unknown path, a token at the Events API and a bad event for violations', async () => {
    await send(aRequest(`${pagerduty.url}/users`, { headers: headers(), body }));
    await send(aRequest(`${pagerduty.url}/v2/change/enqueue`, { headers: headers(), body }));
    const json = { 'content-type': 'application/json' };
    await send(
      aRequest(`${pagerduty.url}/v2/change/enqueue`, { headers: json, body: '{"routing_key":"x"}' }),
    );
    expect(pagerduty.violations).toHaveLength(3);
    expect(pagerduty.changeEvents).toEqual([]);
    expect(pagerduty.calls.map(({ path }) => path)).toEqual([
      '/users',
      '/v2/change/enqueue',
      '/v2/change/enqueue',
    ]);
  });

  it('fails as often as it is told to', async () => {
    pagerduty.failNext({ type: 'status', status: 503 }, 2);
    const types = [await create(), await create(), await create()].map(({ type }) => type);
    expect(types).toEqual(['retry', 'retry', 'delivered']);
  });
});
