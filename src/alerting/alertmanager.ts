/** Prometheus Alertmanager's webhook, version 4, and Grafana's, which is the same and more. Neither is signed. */
import { z } from 'zod';

const payloadSchema = z.looseObject({ alerts: z.array(z.looseObject({ status: z.string() })) });

export function verify(): boolean {
  return true;
}

export function alertsIn(payload: unknown): number {
  const parsed = payloadSchema.safeParse(payload);
  return parsed.success ? parsed.data.alerts.length : 0;
}
