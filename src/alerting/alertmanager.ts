/**
 * Prometheus Alertmanager's webhook, version 4, and Grafana's, version 1, which is the same and more (`title`,
 * `message`, and for each alert `values`, `panelURL`, `dashboardURL` …). Neither is signed.
 *
 *     { "groupKey", "status", "commonLabels", "commonAnnotations", "externalURL", "alerts": [
 *       { "status", "labels", "annotations", "startsAt", "endsAt", "generatorURL", "fingerprint" } ] }
 *
 * Operators can replace the body by a template of their own: what all alerts of a group share is looked for in
 * the alert first, then in the group.
 */
import type { AlertSignal, AlertStatus, ServiceHint } from '../domain/alert.ts';
import { member } from '../domain/json-member.ts';
import { endOf, entitiesOf, keyOf, PAYLOAD_LIMITS, sha256, textOf, timeMsOf, urlOf } from './payload.ts';

/** Labels that name the service, the most telling first. */
const SERVICE_LABELS = ['service_name', 'service', 'app', 'job'] as const;

/** Labels that name a resource, after `exported_` or `kubernetes_` before and `_name` behind are taken off. */
const ENTITY_LABELS: ReadonlySet<string> = new Set([
  ...['pod', 'container', 'deployment', 'statefulset', 'daemonset', 'replicaset', 'cronjob', 'workload'],
  ...['instance', 'host', 'hostname', 'node', 'nodename', 'device', 'mountpoint', 'volume'],
  ...['persistentvolumeclaim', 'database', 'datname', 'table', 'relname', 'index', 'queue', 'topic'],
  ...['consumergroup', 'upstream', 'application', 'flag'],
]);
const LABEL_DRESSING = /^(?:exported|kubernetes)_|_name$/g;

export function verify(): boolean {
  return true;
}

/** What the alerts of a delivery share, read once. */
interface Group {
  readonly status: unknown;
  readonly labels: unknown;
  readonly entities: readonly string[];
  readonly title: string | undefined;
  readonly url: string | null;
}

export function signalsIn(payload: unknown): readonly AlertSignal[] {
  const alerts = member(payload, 'alerts');
  if (!Array.isArray(alerts)) return [];
  const group = groupOf(payload);
  const signals: AlertSignal[] = [];
  for (const alert of alerts) {
    const signal = signalOf(alert, group);
    if (signal !== undefined) signals.push(signal);
    if (signals.length === PAYLOAD_LIMITS.alerts) break;
  }
  return signals;
}

/**
 * There is no id of a delivery. A retry, and the repetition of a notification after `repeat_interval`, say the
 * same of the same alerts; anything that changes the state of one of them makes another key.
 */
export function deduplicationKeyOf(_webhookId: string, payload: unknown): string | null {
  const signals = signalsIn(payload);
  if (signals.length === 0) return null;
  const states = signals.map(({ key, status, startedAtMs }) => JSON.stringify([key, status, startedAtMs]));
  const groupKey = member(payload, 'groupKey');
  return sha256(JSON.stringify([typeof groupKey === 'string' ? groupKey : null, ...states.sort()]));
}

function groupOf(payload: unknown): Group {
  const labels = member(payload, 'commonLabels');
  return {
    status: member(payload, 'status'),
    labels,
    entities: entitiesOf(entityValues(labels)),
    title:
      titleOf(labels, member(payload, 'commonAnnotations')) ??
      textOf(member(payload, 'title'), PAYLOAD_LIMITS.titleLength),
    url: urlOf(member(payload, 'externalURL')),
  };
}

function signalOf(alert: unknown, group: Group): AlertSignal | undefined {
  const labels = member(alert, 'labels');
  const key = keyOf(member(alert, 'fingerprint')) ?? keyOfLabels(labels);
  const status = statusOf(member(alert, 'status') ?? group.status);
  if (key === undefined || status === undefined) return undefined;
  const startedAtMs = timeMsOf(member(alert, 'startsAt'));
  // While it fires, `endsAt` is when Alertmanager would give up on it, or nothing.
  const endsAtMs = status === 'resolved' ? timeMsOf(member(alert, 'endsAt')) : null;
  const { severityLength } = PAYLOAD_LIMITS;
  return {
    key,
    status,
    startedAtMs,
    endedAtMs: endOf(startedAtMs, endsAtMs),
    title: titleOf(labels, member(alert, 'annotations')) ?? group.title ?? `alert ${key}`,
    severity:
      textOf(member(labels, 'severity'), severityLength) ??
      textOf(member(group.labels, 'severity'), severityLength) ??
      null,
    url: linkOf(alert) ?? group.url,
    serviceHints: serviceHintsOf(labels, group.labels),
    entities: entitiesOf([...entityValues(labels), ...group.entities]),
  };
}

function statusOf(value: unknown): AlertStatus | undefined {
  return value === 'firing' || value === 'resolved' ? value : undefined;
}

/** Labels are the identity of an alert; the fingerprint is only their hash. */
function keyOfLabels(labels: unknown): string | undefined {
  const pairs = entriesOf(labels)
    .filter(([, value]) => typeof value === 'string')
    .map((pair) => JSON.stringify(pair));
  return pairs.length === 0 ? undefined : sha256(pairs.sort().join());
}

function titleOf(labels: unknown, annotations: unknown): string | undefined {
  const { titleLength } = PAYLOAD_LIMITS;
  return (
    textOf(member(annotations, 'summary'), titleLength) ??
    textOf(member(annotations, 'title'), titleLength) ??
    textOf(member(labels, 'alertname'), titleLength)
  );
}

/** Where the rule stands and its graph is drawn; Grafana's `silenceURL` would act, so it is left out. */
function linkOf(alert: unknown): string | null {
  return (
    urlOf(member(alert, 'generatorURL')) ??
    urlOf(member(alert, 'panelURL')) ??
    urlOf(member(alert, 'dashboardURL'))
  );
}

/** The alert's own labels first; of the group's only what they do not say already. */
function serviceHintsOf(labels: unknown, commonLabels: unknown): readonly ServiceHint[] {
  const hints: ServiceHint[] = [];
  for (const [where, from] of [
    ['labels', labels],
    ['commonLabels', commonLabels],
  ] as const) {
    for (const label of SERVICE_LABELS) {
      const name = textOf(member(from, label), PAYLOAD_LIMITS.nameLength);
      if (name !== undefined && !hints.some((hint) => hint.name === name)) {
        hints.push({ source: `${where}.${label}`, name });
      }
    }
  }
  return hints;
}

function entityValues(labels: unknown): readonly unknown[] {
  return entriesOf(labels)
    .filter(([label]) => ENTITY_LABELS.has(label.replace(LABEL_DRESSING, '')))
    .map(([, value]) => value);
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}
