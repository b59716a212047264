/** PagerDuty's V3 webhooks: one event a delivery, signed with the subscription's secret. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

const configSchema = z.looseObject({ pagerduty_webhook_secret: z.string().min(1).optional() });
const payloadSchema = z.looseObject({ event: z.looseObject({ event_type: z.string() }) });

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

/** Alerts in a delivery: one for an incident's event, none for the rest (pings, changes to services …). */
export function alertsIn(payload: unknown): number {
  const parsed = payloadSchema.safeParse(payload);
  return parsed.success && parsed.data.event.event_type.startsWith('incident.') ? 1 : 0;
}
