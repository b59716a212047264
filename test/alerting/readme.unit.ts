/** The worked example of src/alerting/README.md, worked. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DEPENDENCY_DISTANCE, scoreOf, scoreParts } from '../../src/alerting/score.ts';
import { causesOf, happened, MINUTE_MS } from './past.ts';

const README = readFileSync(join(import.meta.dirname, '../../src/alerting/README.md'), 'utf8');
const CIRCUIT_CONFIDENCE = 0.9;

const story = [
  happened({
    eventType: 'deploy',
    oldValue: '1f2e9a40',
    newValue: '9a8b77c1',
    confidence: 0.95,
    minutesBefore: 4,
  }),
  happened({
    eventType: 'circuit_open',
    entity: 'orders-db:5432',
    confidence: CIRCUIT_CONFIDENCE,
    minutesBefore: 1,
  }),
  happened({
    serviceName: 'orders-db',
    eventType: 'flag_change',
    entity: 'max_connections',
    oldValue: '400',
    newValue: '100',
    confidence: 0.95,
    minutesBefore: 6,
  }),
  happened({
    serviceName: 'orders-db',
    eventType: 'saturation',
    entity: 'connections',
    confidence: 0.9,
    minutesBefore: 3,
  }),
  happened({
    eventType: 'deploy',
    vendor: 'kubernetes',
    oldValue: '3 replicas',
    newValue: '5 replicas',
    confidence: 0.7,
    minutesBefore: 2,
  }),
  happened({
    eventType: 'deploy',
    oldValue: '1f2e9a40',
    newValue: '1f2e9a40',
    confidence: 0.3,
    minutesBefore: 15,
    liveMinutes: 10,
  }),
];

it('the example of the README has the numbers that the code gives', () => {
  const candidates = causesOf(story, { title: 'checkout-api: connections to orders-db time out' });
  expect(candidates).toHaveLength(story.length);
  const rows = candidates.map(({ event, minutesBefore, score, reasons, occurrences }) => {
    const isUnchanged = event.oldValue !== null && event.oldValue === event.newValue;
    const evidence = {
      eventType: event.eventType,
      ageMs: minutesBefore * MINUTE_MS,
      confidence: event.confidence,
      isSameEntity: reasons.includes('same_entity'),
      distance: reasons.includes('dependency') ? DEPENDENCY_DISTANCE * CIRCUIT_CONFIDENCE : 1,
      isLive: reasons.includes('still_live'),
      noise: reasons.includes('autoscaling') ? 'autoscaling' : isUnchanged ? 'unchanged' : null,
      occurrences,
    } as const;
    expect(scoreOf(evidence)).toBe(score);
    const parts = Object.values(scoreParts(evidence)).map((part: number) => Math.round(part * 1000) / 1000);
    const change = event.oldValue === null ? '' : `, ${event.oldValue} → ${event.newValue}`;
    return `| ${event.eventType} of ${event.entity}${change} | ${[...parts, score].join(' | ')} |`;
  });
  expect(README).toContain(`\n${rows.join('\n')}\n\n`);
});
