/** What has to do with alerting tools, as rows of a checkpoint and back. What is nested is JSON text, as in the log. */
import type { Alert } from '../domain/alert.ts';
import { alertId, deliveryId, integrationId } from '../domain/ids.ts';
import { OUTBOUND_STATES, type OutboundDelivery, type OutboundState } from '../domain/outbound.ts';
import type { Fields } from '../lib/fields.ts';
import type { Tenant } from './state.ts';

const PENDING = 'p';
const RECENT = 'r';
const ALERT = 'l';
const OUTBOUND = 'o';
const EARLY_END = 'x';

/** Rows of a tenant, which follow those of its integrations. */
export function* dumpAlerts({ inbox, alerts, outbox }: Tenant, nowMs: number): Iterable<readonly unknown[]> {
  for (const { id, integrationId, receivedAtMs, bodyJson } of inbox.pending.values()) {
    yield [PENDING, id, integrationId, receivedAtMs, bodyJson];
  }
  for (const { integrationId, toolDeliveryId, atMs, isForMs } of inbox.remembered(nowMs)) {
    yield [RECENT, integrationId, toolDeliveryId, atMs, isForMs];
  }
  for (const { context } of alerts.alerts.values()) yield [ALERT, JSON.stringify(context)];
  for (const [id, endedAtMs] of alerts.earlyEnds) yield [EARLY_END, id, endedAtMs];
  for (const { context, state } of outbox.inOrder()) {
    yield [OUTBOUND, OUTBOUND_STATES.indexOf(state), JSON.stringify(context)];
  }
}

/** Takes a row that is of this kind; false where it is of another. */
export function restoreAlerts({ inbox, alerts, outbox }: Tenant, kind: string, fields: Fields): boolean {
  switch (kind) {
    case PENDING: {
      const id = deliveryId(fields.text());
      const integration = integrationId(fields.text());
      const receivedAtMs = fields.number();
      inbox.take({ id, integrationId: integration, receivedAtMs, bodyJson: fields.text() }, null, 0);
      return true;
    }
    case RECENT:
      inbox.remember(integrationId(fields.text()), fields.text(), fields.number(), fields.number());
      return true;
    case ALERT:
      alerts.add(fields.json<Alert>());
      return true;
    case EARLY_END:
      alerts.endEarly(alertId(fields.text()), fields.number());
      return true;
    case OUTBOUND: {
      const state = fields.member<OutboundState>(OUTBOUND_STATES);
      outbox.restore(fields.json<OutboundDelivery>(), state);
      return true;
    }
    default:
      return false;
  }
}
