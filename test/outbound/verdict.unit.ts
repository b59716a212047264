/** The table at the top of src/outbound/verdict.ts. */
import { describe, expect, it } from 'vitest';
import type { Answered, RequestKind } from '../../src/outbound/call-result.ts';
import { verdictOf } from '../../src/outbound/verdict.ts';
import { aRequest } from './raw-peer.ts';

const answered = (status: number, headers: Readonly<Record<string, string>> = {}, body = ''): Answered => ({
  type: 'answered',
  status,
  headers: new Map(Object.entries(headers)),
  body,
  complete: true,
});

const judge = (
  result: Parameters<typeof verdictOf>[1],
  kind: RequestKind = 'alerts',
  secrets: string[] = [],
) => verdictOf(aRequest('http://x', { kind, secrets }), result);

const detailOf = (body: string, secrets: string[] = [], headers = {}) => {
  const verdict = judge(answered(400, headers, body), 'alerts', secrets);
  return verdict.type === 'delivered' ? '' : verdict.detail;
};

describe('a delivery', () => {
  it.each([200, 201, 202, 204])('that was answered %i is delivered', (status) => {
    expect(judge(answered(status))).toEqual({ type: 'delivered', status, noteId: null });
  });

  it('of a new note says its id, where the answer does', () => {
    const id = (body: string) => judge(answered(200, {}, body), 'note-create');
    expect(id('{"note":{"id":"N1","content":"x"}}')).toEqual({
      type: 'delivered',
      status: 200,
      noteId: 'N1',
    });
    expect(id('{"note":{"id"')).toEqual({ type: 'delivered', status: 200, noteId: null });
    expect(id('{"note":{"id":""}}')).toEqual({ type: 'delivered', status: 200, noteId: null });
  });

  it.each([
    [408, true],
    [425, false],
    [429, false],
    [500, true],
    [502, true],
    [503, true],
    [504, true],
  ])('that was answered %i is tried again, in doubt: %s', (status, inDoubt) => {
    expect(judge(answered(status))).toEqual({
      type: 'retry',
      afterMs: null,
      inDoubt,
      detail: `answered ${status}`,
    });
  });

  it.each([301, 302, 307, 308])('that was answered %i is dead: nobody goes where it points', (status) => {
    expect(judge(answered(status, { location: 'http://169.254.169.254/' }))).toEqual({
      type: 'dead',
      detail: `answered ${status}: redirects are not followed, the URL itself has to be configured`,
    });
  });

  it.each([400, 401, 402, 403, 404, 409, 413, 422])('that was answered %i is dead', (status) => {
    expect(judge(answered(status))).toEqual({ type: 'dead', detail: `answered ${status}` });
  });

  it('that updates a note which is gone says so', () => {
    expect(judge(answered(404), 'note-update')).toEqual({ type: 'gone', detail: 'answered 404' });
    expect(judge(answered(404), 'note-create').type).toBe('dead');
    expect(judge(answered(403), 'note-update').type).toBe('dead');
  });

  it('that the policy refused is dead, and says what the operator can do', () => {
    const reason = 'x is not public (private) and --outbound-allow does not name it';
    expect(judge({ type: 'refused', reason })).toEqual({ type: 'dead', detail: reason });
  });

  it.each([true, false])('that failed is tried again, in doubt as it was sent (%s)', (sent) => {
    expect(judge({ type: 'failed', reason: 'no answer', sent })).toEqual({
      type: 'retry',
      afterMs: null,
      inDoubt: sent,
      detail: 'no answer',
    });
  });
});

describe('a wait that was asked for', () => {
  const date = 'Sat, 22 Aug 2026 10:00:00 GMT';
  it.each([
    ['seconds', 429, { 'retry-after': '30' }, 30_000],
    ['seconds with 503', 503, { 'retry-after': ' 5 ' }, 5000],
    ['no time at all', 429, { 'retry-after': '0' }, 0],
    [
      'a date, by the clock of the peer',
      503,
      { 'retry-after': 'Sat, 22 Aug 2026 10:01:00 GMT', date },
      60_000,
    ],
    ['a date that is over', 503, { 'retry-after': 'Sat, 22 Aug 2026 09:01:00 GMT', date }, 0],
    ['a date of a peer without a clock', 503, { 'retry-after': 'Sat, 22 Aug 2026 10:01:00 GMT' }, null],
    ["PagerDuty's reset", 429, { 'ratelimit-reset': '20' }, 20_000],
    ['both, of which Retry-After counts', 429, { 'ratelimit-reset': '20', 'retry-after': '7' }, 7000],
    ["PagerDuty's reset beside another error", 500, { 'ratelimit-reset': '20' }, null],
    ['nonsense', 429, { 'retry-after': 'soon', 'ratelimit-reset': '-1' }, null],
    ['more digits than a number holds', 429, { 'retry-after': '9'.repeat(400) }, null],
    ['a fraction', 429, { 'retry-after': '1.5' }, null],
  ])('may be %s', (_, status, headers, afterMs) => {
    expect(judge(answered(status, headers))).toMatchObject({ type: 'retry', afterMs });
  });
});

describe('what is said about an answer', () => {
  it.each([
    [
      "PagerDuty's error",
      '{"error":{"message":"Invalid Input","code":2001,"errors":["Note is too long"]}}',
      'Invalid Input; Note is too long',
    ],
    [
      "PagerDuty's event error",
      '{"status":"invalid event","message":"Event object is invalid","errors":["x"]}',
      'Event object is invalid; x',
    ],
    ["Alertmanager's text", '"bad alert"', 'bad alert'],
    ['a line of text', 'bad\r\n\u001b[31mthing\u202e', 'bad [31mthing'],
    ['JSON of another kind', '{"token":"x"}', ''],
  ])('is %s', (_, body, excerpt) => {
    expect(detailOf(body)).toBe(excerpt === '' ? 'answered 400' : `answered 400: ${excerpt}`);
  });

  it('is no HTML', () => {
    expect(detailOf('<html>sorry</html>', [], { 'content-type': 'text/html; charset=utf-8' })).toBe(
      'answered 400',
    );
  });

  it('is short', () => {
    expect(detailOf('x'.repeat(10_000))).toHaveLength('answered 400: '.length + 200);
  });

  it('holds no secret of the request, even where the peer repeats it', () => {
    const secret = 'u+token/1';
    expect(detailOf(`bad token ${secret}, ${secret}!`, [secret])).toBe(
      'answered 400: bad token [secret], [secret]!',
    );
    expect(detailOf('{"error":"bad u+token\\/1"}', [secret])).toBe('answered 400: bad [secret]');
    expect(detailOf(`${'x'.repeat(195)}${secret}`, [secret])).not.toContain('u+t');
    expect(detailOf('nothing of it', [''])).toBe('answered 400: nothing of it');
    expect(detailOf('nothing of it', [' '])).toBe('answered 400: nothing of it');
  });
});
