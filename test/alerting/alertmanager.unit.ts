import { describe, expect, it } from 'vitest';
import { deduplicationKeyOf, signalsIn, verify } from '../../src/alerting/inbound.ts';
import { grafanaGroup, group, type Json, onlySignal } from './deliveries.ts';

/** A group of one alert, changed. */
function one(alert: Json, payload: Json = {}) {
  const original = group();
  return { ...original, ...payload, alerts: [{ ...original.alerts[0], ...alert }] };
}
const signalOf = (alert: Json, payload: Json = {}) => onlySignal('alertmanager', one(alert, payload));

describe('a group of Alertmanager', () => {
  it('is read as its alerts, each with a state of its own', () => {
    const shared = {
      title: '5xx ratio above 5%',
      severity: 'critical',
      url: 'http://prometheus.example:9090/graph?g0.expr=error_ratio+%3E+0.05&g0.tab=1',
      serviceHints: [{ source: 'labels.service', name: 'checkout-api' }],
    };
    expect(signalsIn('alertmanager', group())).toEqual([
      {
        ...shared,
        key: '1a30ba71cca2921f',
        status: 'firing',
        startedAtMs: Date.parse('2026-08-22T10:14:45.828Z'),
        endedAtMs: null,
        entities: ['10.2.0.49:8080'],
      },
      {
        ...shared,
        key: '9b1c0f6e2d4a7781',
        status: 'resolved',
        startedAtMs: Date.parse('2026-08-22T10:09:45.828Z'),
        endedAtMs: Date.parse('2026-08-22T10:13:45.828Z'),
        entities: ['10.2.0.50:8080'],
      },
    ]);
  });

  it('of Grafana is read alike, with a link to the panel where the rule has none', () => {
    expect(onlySignal('alertmanager', grafanaGroup())).toEqual({
      ...signalOf({}),
      url: 'https://grafana.example/d/dashboard_uid?viewPanel=4',
    });
  });

  it('does not lose an alert by the one beside it', () => {
    const [firing, resolved] = group().alerts;
    const broken = [null, 5, 'alert', [], {}, { status: 'firing' }, { ...firing, status: 'pending' }];
    const alerts = broken.flatMap((alert) => [alert, resolved]);
    const keys = signalsIn('alertmanager', { ...group(), alerts }).map(({ key }) => key);
    expect(keys).toEqual(broken.map(() => '9b1c0f6e2d4a7781'));
  });

  it('is taken up to its ten thousandth alert', () => {
    const alerts = Array.from({ length: 10_200 }, (_, index) => ({
      status: 'firing',
      fingerprint: `f${index}`,
    }));
    const signals = signalsIn('alertmanager', { alerts: [null, ...alerts] });
    expect(signals).toHaveLength(10_000);
    expect(signals.at(-1)?.key).toBe('f9999');
  });

  it('costs the same however long a text is that its alerts share', () => {
    const alerts = Array.from({ length: 1000 }, (_, index) => ({ fingerprint: `${index}` }));
    const long = 'x'.repeat(900_000);
    const commonLabels = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`pod${index}`, 'p']),
    );
    const payload = { status: 'firing', alerts, commonAnnotations: { summary: long }, commonLabels };
    const signals = signalsIn('alertmanager', payload);
    expect(new Set(signals.map(({ title }) => title))).toEqual(new Set(['x'.repeat(512)]));
  });

  it('is nothing without a list of alerts', () => {
    for (const payload of [{}, null, [], 'x', { alerts: {} }, { alerts: { length: 3 } }]) {
      expect(signalsIn('alertmanager', payload)).toEqual([]);
    }
  });

  it('is taken as it comes: there is no signature', () => {
    expect(verify('alertmanager', '{}', '', Buffer.from('{}'))).toBe(true);
  });
});

describe('an alert of Alertmanager', () => {
  it('needs nothing but a state and what identifies it', () => {
    const alerts = [{ status: 'firing', fingerprint: 'f1' }];
    expect(onlySignal('alertmanager', { alerts })).toEqual({
      key: 'f1',
      status: 'firing',
      startedAtMs: null,
      endedAtMs: null,
      title: 'alert f1',
      severity: null,
      url: null,
      serviceHints: [],
      entities: [],
    });
  });

  it('without a fingerprint is known by its labels, in whatever order they come', () => {
    const keyOf = (labels: unknown) => signalOf({ fingerprint: undefined, labels }).key;
    const key = keyOf({ alertname: 'A', pod: 'p1' });
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(keyOf({ pod: 'p1', alertname: 'A', extra: 5 })).toBe(key);
    expect(keyOf({ alertname: 'A', pod: 'p2' })).not.toBe(key);
    expect(keyOf({ alertname: 'A","pod', pod: 'p1' })).not.toBe(key);
    for (const labels of [{}, null, { alertname: 5 }]) {
      expect(signalsIn('alertmanager', one({ fingerprint: '', labels }))).toEqual([]);
    }
  });

  it('has no end while it fires, and none before its start', () => {
    const endsAt = '2026-08-22T10:20:00Z';
    expect(signalOf({ endsAt }).endedAtMs).toBeNull();
    expect(signalOf({ status: 'resolved', endsAt }).endedAtMs).toBe(Date.parse(endsAt));
    expect(signalOf({ status: 'resolved', endsAt: '0001-01-01T00:00:00Z' }).endedAtMs).toBeNull();
    expect(signalOf({ status: 'resolved', endsAt: '2026-08-22T10:00:00Z' }).endedAtMs).toBeNull();
  });

  it('that has no state has that of its group', () => {
    expect(signalOf({ status: undefined }, { status: 'resolved' }).status).toBe('resolved');
  });

  it('is called by its summary, its title, its rule, then what its group is called by', () => {
    const labels = { alertname: 'HighErrorRate' };
    const titleOf = (annotations: unknown, from: unknown, payload: Json) =>
      signalOf({ annotations, labels: from }, { commonAnnotations: {}, commonLabels: {}, ...payload }).title;
    expect(titleOf({ summary: 'S', title: 'T' }, labels, {})).toBe('S');
    expect(titleOf({ title: 'T' }, labels, {})).toBe('T');
    expect(titleOf({ summary: ' ' }, labels, {})).toBe('HighErrorRate');
    expect(titleOf(null, null, { commonAnnotations: { summary: 'C' } })).toBe('C');
    expect(titleOf(null, null, { commonLabels: labels })).toBe('HighErrorRate');
    expect(titleOf(null, null, { title: '[FIRING:1]' })).toBe('[FIRING:1]');
  });

  it('names its service by labels, the most telling first, then by those of its group', () => {
    const labels = { job: 'j', app: 'a', service: 's', service_name: 'n', container: 'c' };
    expect(
      signalOf({ labels }, { commonLabels: { app: 'a', service: 'of the group' } }).serviceHints,
    ).toEqual([
      { source: 'labels.service_name', name: 'n' },
      { source: 'labels.service', name: 's' },
      { source: 'labels.app', name: 'a' },
      { source: 'labels.job', name: 'j' },
      { source: 'commonLabels.service', name: 'of the group' },
    ]);
    expect(signalOf({ labels: { job: 5, app: '' } }, { commonLabels: null }).serviceHints).toEqual([]);
  });

  it('names resources by the labels that exporters give them', () => {
    const labels = {
      alertname: 'KubePodCrashLooping',
      namespace: 'payments',
      pod: 'checkout-api-7d4f9c-2xk8p',
      exported_container: 'app',
      kubernetes_node_name: 'node-1',
      datname: 'orders',
      relname: 'carts',
      job: 'kube-state-metrics',
      severity: 'warning',
    };
    const { entities } = signalOf({ labels }, { commonLabels: { pod: labels.pod, instance: 'i:1' } });
    expect(entities).toEqual(['checkout-api-7d4f9c-2xk8p', 'app', 'node-1', 'orders', 'carts', 'i:1']);
  });

  it.each([
    ...['pod', 'container', 'deployment', 'statefulset', 'daemonset', 'replicaset', 'cronjob', 'workload'],
    ...['instance', 'host', 'hostname', 'node', 'nodename', 'device', 'mountpoint', 'volume'],
    ...['persistentvolumeclaim', 'database', 'datname', 'table', 'relname', 'index', 'queue', 'topic'],
    ...['consumergroup', 'upstream', 'application', 'flag'],
    ...['exported_pod', 'kubernetes_pod_name', 'pod_name'],
  ])('names a resource by the label %s', (label) => {
    expect(signalOf({ labels: { [label]: 'x' } }, { commonLabels: null }).entities).toEqual(['x']);
  });

  it.each(['namespace', 'job', 'severity', 'name', 'my_exported_pod', 'pod_names'])(
    'names no resource by the label %s',
    (label) => {
      expect(signalOf({ labels: { [label]: 'x' } }, { commonLabels: null }).entities).toEqual([]);
    },
  );

  it('is as severe as it says, else as its group says', () => {
    const severity = (labels: Json, commonLabels: Json) => signalOf({ labels }, { commonLabels }).severity;
    expect(severity({ severity: 'warning' }, { severity: 'critical' })).toBe('warning');
    expect(severity({ pod: 'x' }, { severity: 'critical' })).toBe('critical');
    expect(severity({ pod: 'x' }, {})).toBeNull();
  });

  it('links to a dashboard, where there is neither a rule nor a panel', () => {
    const links = { generatorURL: '', dashboardURL: 'https://grafana.example/d/1' };
    expect(signalOf(links).url).toBe('https://grafana.example/d/1');
  });

  it('links to its rule, and to its Alertmanager where that is no link', () => {
    expect(signalOf({ generatorURL: 'javascript:alert(1)' }).url).toBe('http://alertmanager.example:9093/');
    expect(signalOf({ generatorURL: null }, { externalURL: 'x' }).url).toBeNull();
  });
});

describe('a delivery of Alertmanager', () => {
  const keyOf = (payload: unknown, webhookId = '') =>
    deduplicationKeyOf('alertmanager', { webhookId }, payload);
  const key = keyOf(group());

  it('is the same when it is sent again: a retry, a repetition after hours, in another order', () => {
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    const repeated = { ...group(), notification_reason: 'repeat interval elapsed' };
    expect(keyOf({ ...repeated, alerts: repeated.alerts.toReversed() })).toBe(key);
    expect(keyOf(group(), 'an id that Alertmanager does not send')).toBe(key);
  });

  it.each<[string, (payload: ReturnType<typeof group>) => unknown]>([
    [
      'an alert is resolved',
      ({ alerts: [a, b], ...rest }) => ({ ...rest, alerts: [{ ...a, status: 'resolved' }, b] }),
    ],
    [
      'an alert is new',
      ({ alerts, ...rest }) => ({ ...rest, alerts: [...alerts, { ...alerts[0], fingerprint: 'x' }] }),
    ],
    ['an alert is gone', ({ alerts, ...rest }) => ({ ...rest, alerts: alerts.slice(1) })],
    [
      'an alert started again',
      ({ alerts: [a, b], ...rest }) => ({ ...rest, alerts: [{ ...a, startsAt: b.endsAt }, b] }),
    ],
    ['it is another group', (payload) => ({ ...payload, groupKey: '{}:{}' })],
  ])('is another when %s', (_, change) => {
    expect(keyOf(change(group()))).not.toBe(key);
  });

  it('that holds no alert is like none', () => {
    for (const payload of [{}, null, { alerts: [] }, { alerts: [null] }]) expect(keyOf(payload)).toBeNull();
  });
});
