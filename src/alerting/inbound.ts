/** What a webhook delivery is, tool by tool: whether it is genuine, whether it came before, and what it says. */
import type { AlertSignal } from '../domain/alert.ts';
import type { IntegrationType } from '../domain/integration.ts';
import * as alertmanager from './alertmanager.ts';
import * as pagerduty from './pagerduty.ts';

interface InboundTool {
  /** True where the integration asks for no signature, or the one given is right. */
  readonly verify: (config: unknown, signature: string, body: Buffer) => boolean;
  readonly signalsIn: (payload: unknown) => readonly AlertSignal[];
  readonly deduplicationKeyOf: (webhookId: string, payload: unknown) => string | null;
}

const TOOLS: { readonly [T in IntegrationType]: InboundTool } = { pagerduty, alertmanager };

/** @param configJson the integration's config, a JSON object as text */
export function verify(type: IntegrationType, configJson: string, signature: string, body: Buffer): boolean {
  return TOOLS[type].verify(JSON.parse(configJson), signature, body);
}

/** The alerts of a delivery, whatever JSON it is; none for what says nothing of an alert (pings, notes …). */
export function signalsIn(type: IntegrationType, payload: unknown): readonly AlertSignal[] {
  return TOOLS[type].signalsIn(payload);
}

/**
 * What two deliveries of an integration have in common when they are one, at most 256 characters long; null
 * where nothing tells.
 *
 * @param webhookId the header X-Webhook-Id, empty where there is none
 */
export function deduplicationKeyOf(
  type: IntegrationType,
  { webhookId }: { readonly webhookId: string },
  payload: unknown,
): string | null {
  return TOOLS[type].deduplicationKeyOf(webhookId, payload);
}
