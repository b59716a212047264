/** What other tools are sent, to the letter. */
import { describe, expect, it } from 'vitest';
import { isChange } from '../../src/domain/event.ts';
import { agentId, type EventId } from '../../src/domain/ids.ts';
import { type StaleAgent, sendStaleAgent } from '../../src/outbound/alertmanager-alerts.ts';
import type { OutboundRequest, Refused } from '../../src/outbound/call-result.ts';
import { type Change, sendChangeEvent } from '../../src/outbound/pagerduty-change-event.ts';
import { createNote, findNote, listNotes, updateNote } from '../../src/outbound/pagerduty-notes.ts';

const ACCOUNT = { baseUrl: 'https://api.pagerduty.com', token: 'u+token', from: 'bot@example.com' };
const NOTE = { text: 'checkout-api was deployed 3 min before.', marker: 'Foreshock 0197-1' };
const EVENTS = { baseUrl: 'https://events.pagerduty.com', routingKey: 'r'.repeat(32) };

const DEPLOY: Change = {
  id: '0197a000-0000-7000-8000-000000000001' as EventId,
  serviceName: 'checkout-api',
  eventType: 'deploy',
  vendor: 'argocd',
  entity: 'checkout',
  oldValue: '3f1c',
  newValue: '9ab2',
  actor: 'alice',
  sha: '9ab2f00d',
  confidence: 0.95,
  timestampMs: Date.UTC(2026, 7, 22, 10, 12),
  receivedAtMs: Date.UTC(2026, 7, 22, 10, 12, 1),
  expiresAtMs: Date.UTC(2026, 7, 22, 11, 12, 1),
};

const AGENT: StaleAgent = {
  id: agentId('5d0b2a34-5a4c-5e0f-9d0a-000000000001'),
  name: 'db agent',
  hostname: 'db-1',
  tenant: 'default',
  lastSeenAtMs: Date.UTC(2026, 7, 22, 10, 0),
  staleSinceMs: Date.UTC(2026, 7, 22, 10, 2),
};

function asked(request: OutboundRequest | Refused): OutboundRequest {
  if (request.type === 'refused') throw new Error(request.reason);
  return request;
}

const bodyOf = (request: OutboundRequest | Refused) => JSON.parse(asked(request).body ?? 'null');

describe('a note', () => {
  it('is created with the token, the user it is written as, and its marker last', () => {
    expect(createNote(ACCOUNT, 'Q1', NOTE)).toEqual({
      type: 'request',
      kind: 'note-create',
      method: 'POST',
      url: 'https://api.pagerduty.com/incidents/Q1/notes',
      headers: {
        authorization: 'Token token=u+token',
        accept: 'application/vnd.pagerduty+json;version=2',
        from: 'bot@example.com',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ note: { content: `${NOTE.text}\n\n${NOTE.marker}` } }),
      secrets: ['u+token'],
    });
  });

  it('is updated under its own id', () => {
    expect(updateNote(ACCOUNT, 'Q1', 'N1', NOTE)).toMatchObject({
      kind: 'note-update',
      method: 'PUT',
      url: 'https://api.pagerduty.com/incidents/Q1/notes/N1',
    });
  });

  it('is listed without a body', () => {
    const request = asked(listNotes(ACCOUNT, 'Q1'));
    expect(request).toMatchObject({ kind: 'note-list', method: 'GET', body: null });
    expect(request.headers).not.toHaveProperty('content-type');
  });

  it.each([
    ['../users', 'incidents/..%2Fusers/notes'],
    ['Q1?x=1#y', 'incidents/Q1%3Fx%3D1%23y/notes'],
    ['Q1/../../x', 'incidents/Q1%2F..%2F..%2Fx/notes'],
    ['%2e%2e', 'incidents/%252e%252e/notes'],
    ['..\\x', 'incidents/..%5Cx/notes'],
    ['Q 1\r\nHost: x', 'incidents/Q%201%0D%0AHost%3A%20x/notes'],
    ['\ud800', 'incidents/%EF%BF%BD/notes'],
  ])('of the incident %j stays below the incidents', (id, path) => {
    expect(asked(listNotes(ACCOUNT, id)).url).toBe(`https://api.pagerduty.com/${path}`);
  });

  it.each(['', '.', '..'])(
    'of the incident "%s", which no escaping keeps from being a path, is refused',
    (id) => {
      expect(createNote(ACCOUNT, id, NOTE)).toMatchObject({ type: 'refused' });
      expect(updateNote(ACCOUNT, 'Q1', id, NOTE)).toMatchObject({ type: 'refused' });
    },
  );

  it.each([
    ['https://proxy.internal/pd', 'https://proxy.internal/pd/incidents/Q1/notes'],
    ['https://proxy.internal/pd//', 'https://proxy.internal/pd/incidents/Q1/notes'],
    ['https://proxy.internal/?to=', 'https://proxy.internal/incidents/Q1/notes'],
    ['https://proxy.internal/#', 'https://proxy.internal/incidents/Q1/notes'],
  ])('goes below the base %s', (baseUrl, url) => {
    expect(asked(listNotes({ ...ACCOUNT, baseUrl }, 'Q1')).url).toBe(url);
  });

  it('of a base that is no URL is refused', () => {
    expect(listNotes({ ...ACCOUNT, baseUrl: 'api.pagerduty.com' }, 'Q1')).toMatchObject({ type: 'refused' });
  });

  it('that is too long loses text, never its marker', () => {
    const { content } = bodyOf(createNote(ACCOUNT, 'Q1', { ...NOTE, text: '😀'.repeat(20_000) })).note;
    // One less than allowed: the cut would have gone through an emoji.
    expect(content).toHaveLength(9999);
    expect(content.endsWith(`😀…\n\n${NOTE.marker}`)).toBe(true);
  });
});

describe('our note among others', () => {
  const answer = (body: unknown, complete = true) =>
    ({
      type: 'answered',
      status: 200,
      headers: new Map(),
      body: typeof body === 'string' ? body : JSON.stringify(body),
      complete,
    }) as const;
  const ours = { id: 'N2', content: `what changed\n\n${NOTE.marker}` };

  it('is known by its last line', () => {
    const notes = [
      { id: 'N1', content: `${NOTE.marker} is what I read` },
      { ...ours, content: `${ours.content}\r\n` },
    ];
    expect(findNote(answer({ notes }), NOTE.marker)).toEqual({ type: 'found', noteId: 'N2' });
  });

  it('is absent from a list without it', () => {
    const notes = [
      { id: 'N1', content: `they said\n> ${NOTE.marker}` },
      { id: 'N3', content: `x\n${NOTE.marker}0` },
      { id: 'N4', content: `${NOTE.marker}\nthanks` },
    ];
    expect(findNote(answer({ notes }), NOTE.marker)).toEqual({ type: 'absent' });
    expect(findNote(answer({ notes: [] }), NOTE.marker)).toEqual({ type: 'absent' });
  });

  it.each([
    ['was cut', answer({ notes: [] }, false)],
    ['is no JSON', answer('<html>')],
    ['is no list of notes', answer({ notes: [{ id: 1 }] })],
  ])('may be in a list that %s', (_, list) => {
    expect(findNote(list, NOTE.marker)).toEqual({ type: 'unreadable' });
  });
});

describe('a change event', () => {
  it('says what changed, where, and by whom', () => {
    const request = asked(sendChangeEvent(EVENTS, DEPLOY, 'https://foreshock.example/services/1'));
    expect(request).toMatchObject({
      kind: 'change-event',
      method: 'POST',
      url: 'https://events.pagerduty.com/v2/change/enqueue',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      secrets: [EVENTS.routingKey],
    });
    expect(bodyOf(request)).toEqual({
      routing_key: EVENTS.routingKey,
      payload: {
        summary: 'Deploy of checkout-api (checkout): 3f1c → 9ab2 by alice',
        timestamp: '2026-08-22T10:12:00.000Z',
        source: 'checkout-api',
        custom_details: {
          event_id: DEPLOY.id,
          event_type: 'deploy',
          service_name: 'checkout-api',
          vendor: 'argocd',
          entity: 'checkout',
          old_value: '3f1c',
          new_value: '9ab2',
          actor: 'alice',
          sha: '9ab2f00d',
          confidence: 0.95,
        },
      },
      links: [{ href: 'https://foreshock.example/services/1', text: 'Foreshock' }],
    });
  });

  it.each([
    [
      'a flag',
      { eventType: 'flag_change', entity: 'dark-mode', oldValue: 'off', newValue: 'on' } as const,
      'Flag change of checkout-api (dark-mode): off → on by alice',
    ],
    [
      'an entity that is the service',
      { entity: 'checkout-api', actor: null },
      'Deploy of checkout-api: 3f1c → 9ab2',
    ],
    [
      'a revision alone',
      { oldValue: null, newValue: null },
      'Deploy of checkout-api (checkout): 9ab2f00d by alice',
    ],
    [
      'nothing but the fact',
      { oldValue: null, newValue: null, sha: null, actor: null },
      'Deploy of checkout-api (checkout)',
    ],
    [
      'text of several lines',
      { newValue: 'a\r\nb\u2028c\u202ed', oldValue: null },
      'Deploy of checkout-api (checkout): a b cd by alice',
    ],
  ])('sums up %s', (_, fields, summary) => {
    const body = bodyOf(sendChangeEvent(EVENTS, { ...DEPLOY, ...fields }, null));
    expect(body.payload.summary).toBe(summary);
    expect(body).not.toHaveProperty('links');
  });

  it('is bounded however long the event is', () => {
    const long = '😀'.repeat(4096);
    const change = {
      ...DEPLOY,
      serviceName: long,
      entity: long,
      oldValue: long,
      newValue: long,
      actor: long,
      sha: long,
    };
    const { payload } = bodyOf(sendChangeEvent(EVENTS, { ...change, vendor: long }, null));
    expect(payload.summary.length).toBeLessThanOrEqual(1024);
    expect(payload.summary.isWellFormed()).toBe(true);
    expect(payload.summary).toMatch(/ → .*… by 😀+…$/u);
    expect(JSON.stringify(payload).length).toBeLessThan(64 * 1024);
  });

  it('never holds the log line, even where somebody hands it over', () => {
    const withLine = { ...DEPLOY, rawLine: 'password=hunter2' };
    expect(asked(sendChangeEvent(EVENTS, withLine, null)).body).not.toContain('hunter2');
  });

  it('is made of deploys and flag changes', () => {
    expect(isChange('deploy')).toBe(true);
    expect(isChange('flag_change')).toBe(true);
    expect(isChange('restart')).toBe(false);
  });
});

describe('a stale agent', () => {
  const untilMs = AGENT.staleSinceMs + 3600_000;
  const raised = { type: 'raised', untilMs } as const;
  const atMs = AGENT.staleSinceMs + 60_000;

  it('is raised as an alert that holds for a while', () => {
    const request = asked(
      sendStaleAgent('http://alertmanager.internal:9093/', AGENT, raised, 'https://f.example'),
    );
    expect(request).toMatchObject({
      kind: 'alerts',
      method: 'POST',
      url: 'http://alertmanager.internal:9093/api/v2/alerts',
      headers: { 'content-type': 'application/json' },
    });
    expect(bodyOf(request)).toEqual([
      {
        labels: {
          alertname: 'ForeshockAgentStale',
          agent_id: AGENT.id,
          agent: 'db agent',
          hostname: 'db-1',
          tenant: 'default',
        },
        annotations: {
          summary: 'No word from agent db agent on db-1',
          description:
            'Last seen at 2026-08-22T10:00:00.000Z. What changes there is not reported until it is back.',
        },
        startsAt: '2026-08-22T10:02:00.000Z',
        endsAt: '2026-08-22T11:02:00.000Z',
        generatorURL: 'https://f.example',
      },
    ]);
  });

  it('is resolved under the very labels it was raised with', () => {
    const [up] = bodyOf(sendStaleAgent('http://a', AGENT, raised, null));
    const [down] = bodyOf(sendStaleAgent('http://a', AGENT, { type: 'resolved', atMs }, null));
    expect(down.labels).toEqual(up.labels);
    expect(down.labels.tenant).toBe('default');
    expect(down).toMatchObject({ startsAt: up.startsAt, endsAt: '2026-08-22T10:03:00.000Z' });
    expect(down).not.toHaveProperty('generatorURL');
  });

  it('never ends before it starts, which Alertmanager would refuse', () => {
    const early = { type: 'resolved', atMs: AGENT.staleSinceMs - 1 } as const;
    const [alert] = bodyOf(sendStaleAgent('http://a', AGENT, early, null));
    expect(alert.endsAt).toBe(alert.startsAt);
  });

  it('of a base that is no URL is refused', () => {
    expect(sendStaleAgent('alertmanager', AGENT, raised, null)).toMatchObject({ type: 'refused' });
  });
});
