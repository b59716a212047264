import { describe, expect, it } from 'vitest';
import * as rejections from '../../src/domain/rejection.ts';

const { REJECTION_KINDS, ...named } = rejections;

describe('rejections', () => {
  // Clients match on these: they are part of the interface.
  it.each([
    [named.badInput('x'), 'bad-input', 'x'],
    [named.unauthenticated('x'), 'unauthenticated', 'x'],
    [named.forbidden('x'), 'forbidden', 'x'],
    [named.unavailable('x'), 'unavailable', 'x'],
    [named.limitReached('x'), 'limit-reached', 'x'],
    [named.rateLimited('x'), 'rate-limited', 'x'],
    [named.tooLarge('x'), 'too-large', 'x'],
    [named.NOT_FOUND, 'not-found', 'not found'],
    [named.METHOD_NOT_ALLOWED, 'method-not-allowed', 'method not allowed'],
    [named.AGENT_NOT_REGISTERED, 'forbidden', 'agent not registered'],
    [named.NOT_YOUR_AGENT, 'forbidden', 'the key belongs to another agent'],
    [named.KEY_REUSED, 'key-reused', 'the Idempotency-Key was used with another payload'],
    [named.NOT_JSON, 'unsupported-media-type', 'the body must be JSON (Content-Type: application/json)'],
    [
      named.NOT_JSON_OR_NDJSON,
      'unsupported-media-type',
      'the body must be JSON (application/json), or an event a line (application/x-ndjson)',
    ],
  ])('are of a kind, and say why: %j', (rejection, kind, detail) => {
    expect(rejection).toEqual({ type: 'rejection', kind, detail });
    expect(REJECTION_KINDS).toContain(kind);
  });
});
