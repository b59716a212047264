import { expect, it } from 'vitest';
import { noiseOf } from '../../src/alerting/noise.ts';
import { happened, type Told } from './past.ts';

const noise = (told: Partial<Told>) => noiseOf(happened({ eventType: 'deploy', minutesBefore: 1, ...told }));
const LONG = '9a8b77c1c0ffee00c0ffee00c0ffee00c0ffee00';

it.each<Partial<Told>>([
  { oldValue: 'v1', newValue: 'v1' },
  { oldValue: '9a8b77c1', newValue: LONG },
  { oldValue: LONG, newValue: '9A8B77C1' },
  { oldValue: '9a8b77c1', sha: LONG },
  { oldValue: 'v1', sha: 'v1' },
  { oldValue: '9a8b77c1', newValue: 'Synced', sha: '9a8b77c1' },
  { eventType: 'flag_change', oldValue: 'on', newValue: 'on' },
])('a change changed nothing: %j', (told) => {
  expect(noise(told)).toBe('unchanged');
});

it.each<Partial<Told>>([
  {},
  { newValue: '9a8b77c1', sha: '9a8b77c1' },
  { oldValue: 'v1', newValue: 'v2', sha: '9a8b77c1' },
  { oldValue: 'v1', newValue: 'v11' },
  { oldValue: 'v1', sha: 'v11' },
  { oldValue: 'v1', newValue: 'of 9a8b77c1' },
  // Hexadecimal digits in a name make it no revision.
  { oldValue: 'app-9a8b77c1', newValue: 'app-9a8b77c1-canary' },
  { oldValue: '9a8b77c1-rc', newValue: '9a8b77c1-rc2' },
  { oldValue: '1f2e9a40', newValue: '9a8b77c1', sha: '9a8b77c1' },
  // The sha is what was there before; what is new stands in the value.
  { oldValue: '1f2e9a40', newValue: '9a8b77c1', sha: '1f2e9a40' },
  { oldValue: '1f2e9a40', newValue: 'Synced' },
  // One begins with the other, but they are numbers and no revisions.
  { eventType: 'flag_change', oldValue: '1000000', newValue: '10000000' },
  { eventType: 'restart', oldValue: 'Running', newValue: 'Running' },
])('something changed: %j', (told) => {
  expect(noise(told)).toBeNull();
});

it.each<Partial<Told>>([
  { newValue: 'Scaled up replica set app-6b9f8d from 3 to 5' },
  { newValue: 'Scaled down replica set app-6b9f8d from 5 to 3' },
  { newValue: 'Scaled down replica set app-6b9f8d to 0' },
  { oldValue: 'replicas=3', newValue: 'replicas: 5' },
  { oldValue: '3', newValue: '0' },
  { oldValue: 'replicas = 12', newValue: '100  replicas' },
  { oldValue: '0', newValue: '3', actor: 'keda-operator' },
  { actor: 'system:serviceaccount:kube-system:horizontal-pod-autoscaler' },
  ...[
    'horizontalpodautoscaler',
    'vertical-pod-autoscaler',
    'cluster-autoscaler',
    'VerticalPodAutoscaler',
  ].map((actor) => ({ actor })),
  ...['clusterautoscaler', 'autoscaler', 'autoscaling', 'hpa', 'vpa'].map((actor) => ({ actor })),
  { eventType: 'restart', actor: 'karpenter' },
])('an autoscaler did it: %j', (told) => {
  expect(noise(told)).toBe('autoscaling');
});

it.each<Partial<Told>>([
  { actor: 'alphas' },
  { oldValue: '3', newValue: '5', sha: '9a8b77c1' },
  { oldValue: '3', newValue: 'v5' },
  { newValue: '5' },
  { oldValue: '3' },
  { eventType: 'restart', oldValue: '3', newValue: '5' },
  { newValue: 'Scaled up replica set app-6b9f8d from 0 to 1' },
  { eventType: 'saturation', actor: 'karpenter', oldValue: '3', newValue: '5' },
  { eventType: 'flag_change', actor: 'hpa', oldValue: '3', newValue: '5' },
])('no autoscaler did it: %j', (told) => {
  expect(noise(told)).toBeNull();
});
