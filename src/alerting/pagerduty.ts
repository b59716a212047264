/**
 * PagerDuty's V3 webhooks: one event a delivery, signed with the subscription's secret.
 *
 *     { "event": { "id", "event_type", "occurred_at", "data": { "id", "type": "incident", "title", "html_url",
 *       "incident_key", "created_at", "reopened_at"?, "service": { "id", "summary" }, "priority" | null, "urgency" } } }
 *
 * Only these events are signals; every other says nothing of when something broke, and our own note comes back
 * as `incident.annotated`.
 *
 *     | event_type         | status   | started                                       | ended       |
 *     | ------------------ | -------- | --------------------------------------------- | ----------- |
 *     | incident.triggered | firing   | created_at, else occurred_at                  |             |
 *     | incident.reopened  | firing   | reopened_at, else occurred_at: it broke again |             |
 *     | incident.resolved  | resolved | reopened_at, else created_at                  | occurred_at |
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { AlertSignal, ServiceHint } from '../domain/alert.ts';
import { member } from '../domain/json-member.ts';
import { endOf, entitiesOf, keyOf, PAYLOAD_LIMITS, textOf, timeMsOf, urlOf } from './payload.ts';

const configSchema = z.looseObject({ pagerduty_webhook_secret: z.string().min(1).optional() });

/**
 * X-PagerDuty-Signature holds one `v1=<hex>` for each secret in use, comma-separated: HMAC-SHA256 of the
 * body's bytes. One that matches is enough.
 */
export function verify(config: unknown, signature: string, body: Buffer): boolean {
  const parsed = configSchema.safeParse(config);
  // A secret that is there but is no text can never match: nothing is let in by mistake.
  if (!parsed.success) return false;
  const secret = parsed.data.pagerduty_webhook_secret;
  if (secret === undefined) return true;
  const expected = Buffer.from(`v1=${createHmac('sha256', secret).update(body).digest('hex')}`);
  return signature.split(',').some((candidate) => {
    const given = Buffer.from(candidate.trim());
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

export function signalsIn(payload: unknown): readonly AlertSignal[] {
  const event = member(payload, 'event');
  const incident = member(event, 'data');
  const key = isIncident(incident) ? keyOf(member(incident, 'id')) : undefined;
  const phase = phaseOf(event, incident);
  if (key === undefined || phase === undefined) return [];
  return [
    {
      key,
      ...phase,
      title: textOf(member(incident, 'title'), PAYLOAD_LIMITS.titleLength) ?? `incident ${key}`,
      severity: severityOf(incident),
      url: urlOf(member(incident, 'html_url')),
      serviceHints: serviceHintsOf(member(incident, 'service')),
      entities: entitiesIn(member(incident, 'incident_key')),
    },
  ];
}

/** X-Webhook-Id, which is the same on every retry; the event's own id where a proxy took the header away. */
export function deduplicationKeyOf(webhookId: string, payload: unknown): string | null {
  if (webhookId !== '' && webhookId.length <= PAYLOAD_LIMITS.keyLength) return webhookId;
  return keyOf(member(member(payload, 'event'), 'id')) ?? null;
}

/** Other kinds of data (notes, field values …) have an `id` too, which is not the incident's. */
function isIncident(data: unknown): boolean {
  const type = member(data, 'type');
  return type === undefined || type === null || type === 'incident';
}

type Phase = Pick<AlertSignal, 'status' | 'startedAtMs' | 'endedAtMs'>;

function phaseOf(event: unknown, incident: unknown): Phase | undefined {
  const occurredAtMs = timeMsOf(member(event, 'occurred_at'));
  const createdAtMs = timeMsOf(member(incident, 'created_at'));
  const reopenedAtMs = timeMsOf(member(incident, 'reopened_at'));
  switch (member(event, 'event_type')) {
    case 'incident.triggered':
      return { status: 'firing', startedAtMs: createdAtMs ?? occurredAtMs, endedAtMs: null };
    case 'incident.reopened':
      return { status: 'firing', startedAtMs: reopenedAtMs ?? occurredAtMs, endedAtMs: null };
    case 'incident.resolved': {
      const startedAtMs = reopenedAtMs ?? createdAtMs;
      return { status: 'resolved', startedAtMs, endedAtMs: endOf(startedAtMs, occurredAtMs) };
    }
    default:
      return undefined;
  }
}

/** The priority that the account gave it (`P1`), else how it pages (`high`, `low`). */
function severityOf(incident: unknown): string | null {
  const { severityLength } = PAYLOAD_LIMITS;
  const priority = member(incident, 'priority');
  return (
    textOf(member(priority, 'summary'), severityLength) ??
    textOf(member(priority, 'name'), severityLength) ??
    textOf(member(incident, 'urgency'), severityLength) ??
    null
  );
}

/** The summary is the service's name. The id names nothing of ours, but survives renaming in `service_map`. */
function serviceHintsOf(service: unknown): readonly ServiceHint[] {
  return ['summary', 'name', 'id'].flatMap((field) => {
    const name = textOf(member(service, field), PAYLOAD_LIMITS.nameLength);
    return name === undefined ? [] : [{ source: `service.${field}`, name }];
  });
}

/**
 * Webhooks carry no labels and no details of the alert. The incident key is what monitoring calls it, and often
 * made of what it is about: `checkout-api/5xx`, `orders-db-0:5432/connections`.
 */
function entitiesIn(incidentKey: unknown): readonly string[] {
  const text = textOf(incidentKey, PAYLOAD_LIMITS.nameLength);
  return text === undefined ? [] : entitiesOf([text, ...text.split(/[\s/|,;=]+/)]);
}
