/**
 * What a command says to those who look on, one Server-Sent Event each:
 *
 *   event        an event was recorded; each of a batch has a message of its own
 *   agent        an agent was registered, or is not heard of any more
 *   heartbeat    an agent was heard of without an event
 *   alert        an alert fired, was resolved, or was held against the events once more; with the notes that tell of it
 *   delivery     an attempt to tell another tool began or ended
 *   integration  an integration was made, changed or deleted; what it is now is to be read, its secrets are not here
 *
 * An event is told as its record has it. All else is told as it is when it is told: whoever hears of it late hears of
 * what is, not of what was. Nothing is told of an expiry: an event says when it expires, and a reader has a clock.
 */
import type { State, Tenant } from '../commands/state.ts';
import type { Alert, AlertChange } from '../domain/alert.ts';
import type { Command } from '../domain/command.ts';
import { eventIdOf } from '../domain/ids.ts';
import type { EventCursor } from '../events/cursor.ts';
import { readDetails } from '../events/details.ts';
import { decodeCommand, eventsIn } from '../log/command-codec.ts';
import type { LoggedRecord } from '../log/replay.ts';
import { type AgentViewOptions, agentDetail } from '../queries/agents.ts';
import { alertDetail, deliveryJson, serviceNameOf } from '../queries/alerts.ts';
import { isoTime } from '../queries/json.ts';
import type { Traits } from './filter.ts';
import { formatPoint, type ResumePoint } from './resume-point.ts';

export interface MessageOptions extends AgentViewOptions {
  readonly state: State;
  readonly nowMs: number;
}

/** Whoever takes messages is asked before they are made. */
export interface MessageSink {
  wants(traits: Traits): boolean;
  /** @param after how far a reader has come with it */
  take(text: string, after: ResumePoint): void;
}

/**
 * Tells what a record says, from its `skip`th message on.
 *
 * @param firstEventNumber of the events in the record, where it holds any
 */
export function tell(
  tenant: Tenant,
  record: LoggedRecord,
  firstEventNumber: number,
  skip: number,
  sink: MessageSink,
  options: MessageOptions,
): void {
  const cursor = eventsIn(record.bytes, record.start);
  if (cursor !== undefined) return tellEvents(tenant, record, cursor, firstEventNumber, skip, sink);
  const { sequence } = record.stamp;
  const messages = messagesOf(tenant, decodeCommand(record.bytes, record.start, record.end), options);
  for (const [index, message] of messages.entries()) {
    if (index < skip || message === undefined || !sink.wants(message)) continue;
    const after = pointAfter(sequence, index, messages.length);
    sink.take(textOf(message.name, after, JSON.stringify(message.data)), after);
  }
}

/** A message as it goes over the wire. */
export function textOf(name: string, after: ResumePoint, json: string): string {
  return `id: ${formatPoint(after)}\nevent: ${name}\ndata: ${json}\n\n`;
}

function pointAfter(sequence: number, index: number, count: number): ResumePoint {
  return index === count - 1 ? { sequence: sequence + 1, taken: 0 } : { sequence, taken: index + 1 };
}

interface Message extends Traits {
  readonly name: string;
  readonly data: object;
}

/** Of fixed number, whatever has become of what they are about: undefined stands for what cannot be told of. */
function messagesOf(
  tenant: Tenant,
  command: Command,
  options: MessageOptions,
): readonly (Message | undefined)[] {
  const about = (name: string, data: object | undefined) =>
    data && { name, data, service: null, eventType: null };
  switch (command.type) {
    case 'register-agent':
    case 'mark-agent-stale':
      return [about('agent', agentData(tenant, command.agentId, options))];
    case 'heartbeat': {
      const agent = tenant.agents.get(command.agentId)?.context;
      const seen = agent && { agent_id: agent.id, last_seen_at: isoTime(agent.lastSeenAtMs) };
      return [about('heartbeat', seen)];
    }
    case 'process-delivery':
      return command.changes.map((change) => {
        const alert = alertOf(tenant, command.integrationId, change);
        return alert && alertMessage(tenant, change.type, alert);
      });
    case 'correlate-alert': {
      const alert = tenant.alerts.alerts.get(command.alertId)?.context;
      return [alert && alertMessage(tenant, 'correlated', alert)];
    }
    case 'start-attempt':
    case 'finish-attempt': {
      const delivery = tenant.outbox.deliveries.get(command.outboundId);
      return [about('delivery', delivery && deliveryJson(delivery))];
    }
    case 'create-integration':
    case 'configure-integration':
    case 'delete-integration':
    case 'rotate-token': {
      const { integrationId: id } = command;
      return [about('integration', { id, exists: tenant.integrations.has(id) })];
    }
    case 'record-events':
    case 'receive-delivery':
    case 'create-tenant':
    case 'create-keys':
    case 'revoke-key':
    case 'pass-time':
      return [];
  }
}

function agentData(
  tenant: Tenant,
  id: Parameters<Tenant['agents']['get']>[0],
  options: MessageOptions,
): object | undefined {
  const agent = tenant.agents.get(id);
  return agent && agentDetail(tenant.id, agent, options.nowMs, options);
}

function alertMessage(tenant: Tenant, change: AlertChange['type'] | 'correlated', alert: Alert): Message {
  const data = { change, ...alertDetail(tenant, alert) };
  return { name: 'alert', data, service: serviceNameOf(alert.match), eventType: null };
}

/**
 * An alert that was resolved is named by what its tool calls it, as others before it may have been; it is the one that
 * ended then. Where there is none, nothing was resolved, or it has fired again since, which is told by itself.
 */
function alertOf(
  tenant: Tenant,
  integrationId: Alert['integrationId'],
  change: AlertChange,
): Alert | undefined {
  if (change.type === 'fired') return tenant.alerts.alerts.get(change.alertId)?.context;
  return [...tenant.alerts.alerts.values()]
    .map(({ context }) => context)
    .findLast(
      (alert) =>
        alert.key === change.key &&
        alert.integrationId === integrationId &&
        alert.resolvedAtMs === change.endedAtMs,
    );
}

function tellEvents(
  tenant: Tenant,
  { stamp }: LoggedRecord,
  cursor: EventCursor,
  firstEventNumber: number,
  skip: number,
  sink: MessageSink,
): void {
  const { sequence, atMs } = stamp;
  const received = isoTime(atMs);
  for (let index = 0; cursor.next(); index += 1) {
    const { serviceName: service, eventType } = cursor;
    if (index < skip || !sink.wants({ service, eventType })) continue;
    const after = pointAfter(sequence, index, cursor.count);
    const id = eventIdOf(tenant.id, atMs, firstEventNumber + index);
    sink.take(textOf('event', after, eventJson(tenant, cursor, id, atMs, received)), after);
  }
}

/** Put together by hand: with an object in between it took twice as long. Ids and times need no escapes. */
function eventJson(tenant: Tenant, cursor: EventCursor, id: string, atMs: number, received: string): string {
  const { serviceName, eventType, confidence, ttlSeconds, timestampMs } = cursor;
  const { vendor, entity, oldValue, newValue, actor, sha } = readDetails(cursor.bytes, cursor.detailsStart);
  const serviceId = tenant.servicesByName.get(serviceName)?.id;
  const timestamp = timestampMs === null ? received : isoTime(timestampMs);
  return (
    `{"id":"${id}","agent_id":"${cursor.agentId}","service_id":"${serviceId}",` +
    `"service_name":${JSON.stringify(serviceName)},"vendor":${JSON.stringify(vendor)},` +
    `"entity":${JSON.stringify(entity)},"event_type":"${eventType}",` +
    `"old_value":${JSON.stringify(oldValue)},"new_value":${JSON.stringify(newValue)},` +
    `"actor":${JSON.stringify(actor)},"sha":${JSON.stringify(sha)},"confidence":${confidence},` +
    `"ttl_seconds":${ttlSeconds},"timestamp":"${timestamp}","received_at":"${received}",` +
    `"expires_at":"${isoTime(atMs + ttlSeconds * 1000)}"}`
  );
}
