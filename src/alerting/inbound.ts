/** What a webhook delivery is, tool by tool: whether it is genuine, and how many alerts it carries. */
import type { IntegrationType } from '../domain/integration.ts';
import * as alertmanager from './alertmanager.ts';
import * as pagerduty from './pagerduty.ts';

interface InboundTool {
  /** True where the integration asks for no signature, or the one given is right. */
  readonly verify: (config: unknown, signature: string, body: Buffer) => boolean;
  readonly alertsIn: (payload: unknown) => number;
}

const TOOLS: { readonly [T in IntegrationType]: InboundTool } = { pagerduty, alertmanager };

/** @param configJson the integration's config, a JSON object as text */
export function verify(type: IntegrationType, configJson: string, signature: string, body: Buffer): boolean {
  return TOOLS[type].verify(JSON.parse(configJson), signature, body);
}

export function alertsIn(type: IntegrationType, payload: unknown): number {
  return TOOLS[type].alertsIn(payload);
}
