/**
 * Identifiers. All are lower-case UUID strings, told apart by a brand so that one kind cannot be passed
 * for another. Those of agents, services and events are derived, not drawn: replaying the log, or two
 * requests at once, give the same thing the same id.
 */
import { parse, stringify, validate as uuidValidate, v5 as uuidv5 } from 'uuid';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type TenantId = Branded<'TenantId'>;
export type KeyId = Branded<'KeyId'>;
export type AgentId = Branded<'AgentId'>;
export type ServiceId = Branded<'ServiceId'>;
export type IntegrationId = Branded<'IntegrationId'>;
export type EventId = Branded<'EventId'>;
/** An inbound webhook delivery that was taken. */
export type DeliveryId = Branded<'DeliveryId'>;
export type AlertId = Branded<'AlertId'>;
/** Something that is to be sent to an alerting tool. */
export type OutboundId = Branded<'OutboundId'>;

/** Of an agent that this process knows: no other has it, and another process may call it otherwise. */
export type AgentNumber = number & { readonly [brand]: 'AgentNumber' };

export const tenantId = (uuid: string): TenantId => uuid as TenantId;
export const keyId = (uuid: string): KeyId => uuid as KeyId;
export const agentId = (uuid: string): AgentId => uuid as AgentId;
export const serviceId = (uuid: string): ServiceId => uuid as ServiceId;
export const integrationId = (uuid: string): IntegrationId => uuid as IntegrationId;
export const deliveryId = (uuid: string): DeliveryId => uuid as DeliveryId;
export const alertId = (uuid: string): AlertId => uuid as AlertId;
export const outboundId = (uuid: string): OutboundId => uuid as OutboundId;

/** The canonical lower-case form of a UUID in any case, or undefined where the text is none. */
export function parseUuid(text: string): string | undefined {
  return uuidValidate(text) ? text.toLowerCase() : undefined;
}

/** The 16 bytes of a UUID in its canonical form, or undefined where the text is none. */
export function uuidBytes(text: string): Uint8Array | undefined {
  return parseUuid(text) === text ? parse(text) : undefined;
}

/** The UUID of 16 bytes that `uuidBytes` gave. */
export function uuidText(bytes: Uint8Array): string {
  return stringify(bytes);
}

/** One ingest key is one agent: UUIDv5 (RFC 9562 §5.5) of the key within its tenant. */
export function agentIdOf(tenant: TenantId, key: KeyId): AgentId {
  return uuidv5(`agent:${key}`, tenant) as AgentId;
}

/** One name is one service of a tenant: UUIDv5 of the name within its tenant. */
export function serviceIdOf(tenant: TenantId, name: string): ServiceId {
  return uuidv5(`service:${name}`, tenant) as ServiceId;
}

/**
 * One alert of an integration: what its tool calls it, and when it started, since tools use a name again. UUIDv5.
 *
 * @param startedAtMs null where the tool does not say
 */
export function alertIdOf(integration: IntegrationId, key: string, startedAtMs: number | null): AlertId {
  return uuidv5(`alert:${startedAtMs ?? ''}:${key}`, integration) as AlertId;
}

/** What is sent once through an integration, however often it is asked for: UUIDv5 of a text that says what it is. */
export function outboundIdOf(integration: IntegrationId, what: string): OutboundId {
  return uuidv5(`outbound:${what}`, integration) as OutboundId;
}

/**
 * UUIDv7 (RFC 9562 §5.7) of the receipt time and the event's number within its tenant. The bits that the
 * RFC leaves random hold 26 bits of the tenant id, then the number in 48: ids sort by receipt, and one
 * tenant's ids say nothing of how much another tenant sends.
 *
 * @param receivedAtMs receipt, milliseconds since the epoch
 * @param eventNumber 1 for the tenant's first event; below 2^48
 */
export function eventIdOf(tenant: TenantId, receivedAtMs: number, eventNumber: number): EventId {
  const time = receivedAtMs.toString(16).padStart(12, '0');
  const number = eventNumber.toString(16).padStart(12, '0');
  // 0x8000 is the RFC's variant; the 14 bits beside it and the 12 beside the version are the tenant's.
  const variant = (0x8000 | (Number.parseInt(tenant.slice(0, 4), 16) & 0x3fff)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${tenant.slice(4, 7)}-${variant}-${number}` as EventId;
}

/** The number of an event within its tenant, by its id. */
export function eventNumberOf(id: EventId): number {
  return Number.parseInt(id.slice(-12), 16);
}
