import { describe, expect, it } from 'vitest';
import { pastEventOf } from '../../src/domain/alert.ts';
import { EVENT_TYPES, expiresAtMs, isChange, isEventType, publicFields } from '../../src/domain/event.ts';
import { eventIdOf, tenantId } from '../../src/domain/ids.ts';
import { anEvent } from '../support/engine.ts';

const TENANT = tenantId('0f8fad5b-d9cb-469f-a165-70867728950e');
const RECEIVED_AT_MS = 1_760_000_000_000;

describe('an event', () => {
  it('is of one of six types', () => {
    expect(EVENT_TYPES.filter(isEventType)).toEqual([
      'deploy',
      'restart',
      'saturation',
      'flag_change',
      'circuit_open',
      'dependency_failure',
    ]);
    expect(['', 'Deploy', 'deploys', 'constructor'].filter(isEventType)).toEqual([]);
  });

  it('is a change where somebody did something, and else a fault', () => {
    expect(EVENT_TYPES.filter(isChange)).toEqual(['deploy', 'flag_change']);
  });

  it('matters for its time to live, from its receipt', () => {
    expect(expiresAtMs(anEvent({ ttlSeconds: 90, timestampMs: 1 }), RECEIVED_AT_MS)).toBe(
      RECEIVED_AT_MS + 90_000,
    );
  });

  it('is read without its log line, and with null for what it lacks', () => {
    const event = anEvent({ newValue: 'v2', actor: 'ci', sha: 'abc1234', rawLine: 'secret', ttlSeconds: 60 });
    expect(publicFields(event)).toEqual({
      service_name: 'checkout-api',
      vendor: 'argocd',
      entity: 'checkout-api',
      event_type: 'deploy',
      old_value: null,
      new_value: 'v2',
      actor: 'ci',
      sha: 'abc1234',
      confidence: 0.95,
      ttl_seconds: 60,
    });
  });
});

describe('an event of the past', () => {
  const receipt = { receivedAtMs: RECEIVED_AT_MS, eventNumber: 7 };

  it('has its id and its times, and not its log line', () => {
    const event = anEvent({ timestampMs: 5, rawLine: 'secret' });
    const { rawLine: _, ttlSeconds: __, ...facts } = event;
    expect(pastEventOf(TENANT, event, receipt)).toStrictEqual({
      ...facts,
      id: eventIdOf(TENANT, RECEIVED_AT_MS, 7),
      timestampMs: 5,
      receivedAtMs: RECEIVED_AT_MS,
      expiresAtMs: RECEIVED_AT_MS + 3_600_000,
    });
  });

  it('happened when it was received, where its sender gave no time', () => {
    expect(pastEventOf(TENANT, anEvent(), receipt).timestampMs).toBe(RECEIVED_AT_MS);
    expect(pastEventOf(TENANT, anEvent({ timestampMs: 0 }), receipt).timestampMs).toBe(0);
  });
});
