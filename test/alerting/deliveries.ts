/** Deliveries as the tools send them, to be changed by tests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { signalsIn } from '../../src/alerting/inbound.ts';
import type { AlertSignal } from '../../src/domain/alert.ts';
import type { IntegrationType } from '../../src/domain/integration.ts';

export type Json = Record<string, unknown>;

function fixture(name: string) {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../fixtures', name), 'utf8'));
}

export const incident = () => fixture('pagerduty-v3-incident-triggered.json');
export const annotation = () => fixture('pagerduty-v3-incident-annotated.json');
export const group = () => fixture('alertmanager-v4-firing.json');

/** Grafana's, as its documentation shows it: Alertmanager's and more. */
export function grafanaGroup() {
  const payload = group();
  const extras = {
    values: { B: 22, C: 1 },
    valueString: "[ var='B' labels={} value=22 ]",
    silenceURL: 'https://grafana.example/alerting/silence/new?alertmanager=grafana',
    dashboardURL: 'https://grafana.example/d/dashboard_uid',
    panelURL: 'https://grafana.example/d/dashboard_uid?viewPanel=4',
    imageURL: '',
  };
  const more = { version: '1', orgId: 1, title: '[FIRING:1] HighErrorRate', state: 'alerting', message: 'x' };
  return { ...payload, ...more, alerts: [{ ...payload.alerts[0], ...extras, generatorURL: '' }] };
}

export function onlySignal(type: IntegrationType, payload: unknown): AlertSignal {
  const signals = signalsIn(type, payload);
  const [signal] = signals;
  if (signal === undefined || signals.length > 1) throw new Error(`${signals.length} signals`);
  return signal;
}
