/**
 * Changes that are reported and change nothing, by the shapes they have in practice.
 *
 * A deployment controller that heals drift reports a deploy whose revision is the one that was there. An
 * autoscaler's doings look like deploys, as the deployment controller of Kubernetes reports both in one event:
 * `Scaled up replica set checkout-api-6b9f8d from 3 to 5`. Only from 0 is that a new revision on its way.
 */
import type { PastEvent } from '../domain/alert.ts';
import { isChange } from '../domain/event.ts';
import type { Noise } from './score.ts';

const AUTOSCALER =
  /\b(?:horizontal-?pod-?autoscaler|vertical-?pod-?autoscaler|cluster-?autoscaler|autoscal(?:er|ing)|hpa|vpa|keda|karpenter)\b/i;
const SCALED = /\bscaled (?:(?<down>down)|up) replica set \S+(?: from (?<from>\d+))? to \d+/i;
/** `3`, `3 replicas`, `replicas=3`, `replicas: 3` */
const REPLICAS = /^(?:replicas\s*[=:]\s*)?(?<count>\d{1,6})(?:\s+replicas)?$/i;
/** Git abbreviates to seven digits or more. */
const REVISION = /^[0-9a-f]{7,64}$/i;

export function noiseOf(event: PastEvent): Noise | null {
  if (isAutoscaling(event)) return 'autoscaling';
  return isChange(event.eventType) && isUnchanged(event) ? 'unchanged' : null;
}

function isUnchanged({ eventType, oldValue, newValue, sha }: PastEvent): boolean {
  if (oldValue === null) return false;
  if (oldValue === newValue) return true;
  if (eventType !== 'deploy') return false;
  // What is new may be no revision but a phase (`Synced`): then the sha says what was deployed.
  const isRevision = newValue !== null && REVISION.test(newValue);
  return isSameRevision(oldValue, isRevision ? newValue : sha);
}

/** Also where one is the other abbreviated. */
function isSameRevision(before: string, after: string | null): boolean {
  if (after === null || before === after) return before === after;
  if (!REVISION.test(before) || !REVISION.test(after)) return false;
  const [short, long] = before.length < after.length ? [before, after] : [after, before];
  return long.toLowerCase().startsWith(short.toLowerCase());
}

function isAutoscaling({ eventType, actor, oldValue, newValue, sha }: PastEvent): boolean {
  if (eventType !== 'deploy' && eventType !== 'restart') return false;
  if (actor !== null && AUTOSCALER.test(actor)) return true;
  if (eventType !== 'deploy' || sha !== null || newValue === null) return false;
  const scaled = SCALED.exec(newValue)?.groups;
  if (scaled !== undefined) return scaled['down'] !== undefined || Number(scaled['from'] ?? 0) > 0;
  const before = REPLICAS.exec(oldValue ?? '')?.groups?.['count'];
  return before !== undefined && Number(before) > 0 && REPLICAS.test(newValue);
}
