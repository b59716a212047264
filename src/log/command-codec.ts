/**
 * Commands as msgpack: positional arrays, the command's code first. Positions are only ever added at the
 * end and codes never reused, so that a log outlives the program that wrote it; where what stands at one changes its form,
 * as ids of events did, both are read, and segments are of the next version. No msgpack maps: what has
 * the sender's own keys (an integration's config, a webhook's body) travels as JSON text, since msgpackr
 * renames keys such as `__proto__`.
 */
import { Packr, RESERVE_START_SPACE, RESET_BUFFER_MODE } from 'msgpackr';
import type { AlertChange, AlertMatch, Candidate } from '../domain/alert.ts';
import type { Command, CommandType, CorrelateAlert, NewKey, RecordEvents } from '../domain/command.ts';
import type { EncodedCommand } from '../domain/encoded-events.ts';
import type { ContextEvent } from '../domain/event.ts';
import {
  agentId,
  alertId,
  deliveryId,
  integrationId,
  keyId,
  outboundId,
  type TenantId,
  tenantId,
} from '../domain/ids.ts';
import {
  DIRECTIONS,
  type Direction,
  INTEGRATION_TYPES,
  type IntegrationType,
} from '../domain/integration.ts';
import { KEY_KINDS, type KeyKind } from '../domain/key.ts';
import type { AttemptResult } from '../domain/outbound.ts';
import { EventCursor } from '../events/cursor.ts';
import { encodeEvents, idForm, maxEncodedBytes, RECORD_EVENTS_CODE } from '../events/encoding.ts';
import { Fields } from '../lib/fields.ts';
import { FRAME_BYTES } from './record.ts';

const CODES: { readonly [T in CommandType]: number } = {
  'record-events': RECORD_EVENTS_CODE,
  heartbeat: 2,
  'register-agent': 3,
  'create-tenant': 4,
  'create-keys': 5,
  'revoke-key': 6,
  'create-integration': 7,
  'configure-integration': 8,
  'delete-integration': 9,
  'rotate-token': 10,
  'receive-delivery': 11,
  'pass-time': 12,
  'process-delivery': 13,
  'correlate-alert': 14,
  'mark-agent-stale': 15,
  'start-attempt': 16,
  'finish-attempt': 17,
};

const packr = new Packr({ useRecords: false });
const packOptions = RESERVE_START_SPACE | RESET_BUFFER_MODE | FRAME_BYTES;

/** A record whose frame is still to be filled in: `FRAME_BYTES` of it, then the payload. */
export interface EncodedRecord {
  /** Others may stand before it and behind it. */
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Of a command that is encoded already, the bytes are the very same. */
export function encodeCommand(command: Command | EncodedCommand): EncodedRecord {
  switch (command.type) {
    case 'encoded-command': {
      const { bytes, start, end } = command;
      return { bytes, start: start - FRAME_BYTES, end };
    }
    case 'record-events': {
      const { tenantId, agentId, events, idempotency } = command;
      const bytes = Buffer.alloc(FRAME_BYTES + maxEncodedBytes(tenantId, agentId, events, idempotency));
      const end = encodeEvents(bytes, FRAME_BYTES, tenantId, agentId, events, idempotency);
      return { bytes, start: 0, end };
    }
    default: {
      const bytes = packr.pack(fieldsOf(command), packOptions);
      return { bytes, start: 0, end: bytes.length };
    }
  }
}

/** The events of a payload, if that is what it holds. */
export function eventsIn(bytes: Buffer, start: number): EventCursor | undefined {
  return bytes[start + 1] === RECORD_EVENTS_CODE ? new EventCursor(bytes, start) : undefined;
}

export function isOfType(type: CommandType, bytes: Buffer, start: number): boolean {
  return bytes[start + 1] === CODES[type];
}

/** How a tenant's id may stand in a record: in those of events, and in all others. */
export function formsOf(tenantId: TenantId): readonly Buffer[] {
  return [idForm(tenantId), packr.pack(tenantId)];
}

/** Whether a payload is a command of the tenant whose id has these forms: every code takes one byte. */
export function isOfTenant(forms: readonly Buffer[], bytes: Buffer, start: number, end: number): boolean {
  const at = start + 2;
  return forms.some((form) => {
    const after = at + form.length;
    return after <= end && bytes.compare(form, 0, form.length, at, after) === 0;
  });
}

/** The command in a payload. Throws where there is none, which a record whose CRC is right never shows. */
export function decodeCommand(bytes: Buffer, start: number, end: number): Command {
  const cursor = eventsIn(bytes, start);
  if (cursor !== undefined) return eventsCommand(cursor);
  const fields: unknown = packr.unpack(bytes, { start, end });
  if (!Array.isArray(fields)) throw new Error('a record that holds no command');
  return commandOf(new Fields(fields));
}

function newKeyOf(fields: Fields): NewKey {
  return {
    keyId: keyId(fields.text()),
    kind: fields.member<KeyKind>(KEY_KINDS),
    name: fields.textOrNull(),
    hash: fields.text(),
  };
}

function eventsCommand(cursor: EventCursor): Command {
  const { tenantId, agentId } = cursor;
  const events: ContextEvent[] = [];
  while (cursor.next()) events.push(cursor.event());
  const idempotency = cursor.idempotency();
  return {
    ...{ type: 'record-events', tenantId, agentId, events },
    ...(idempotency === undefined ? {} : { idempotency }),
  };
}

function fieldsOf(command: Exclude<Command, RecordEvents>): unknown[] {
  const code = CODES[command.type];
  switch (command.type) {
    case 'pass-time':
      return [code];
    case 'heartbeat':
      return [code, command.tenantId, command.agentId];
    case 'register-agent': {
      const { tenantId, agentId, keyId, hostname, name, version } = command;
      return [code, tenantId, agentId, keyId, hostname, name, version];
    }
    case 'create-tenant':
      return [code, command.tenantId, command.name];
    case 'create-keys': {
      const keys = command.keys.map(({ keyId, kind, name, hash }) => [
        keyId,
        KEY_KINDS.indexOf(kind),
        name,
        hash,
      ]);
      return [code, command.tenantId, keys];
    }
    case 'revoke-key':
      return [code, command.tenantId, command.keyId];
    case 'create-integration': {
      const { tenantId, integrationId, integrationType, direction, token } = command;
      const type = INTEGRATION_TYPES.indexOf(integrationType);
      return [code, tenantId, integrationId, type, DIRECTIONS.indexOf(direction), token];
    }
    case 'configure-integration':
      return [code, command.tenantId, command.integrationId, command.configJson];
    case 'delete-integration':
      return [code, command.tenantId, command.integrationId];
    case 'rotate-token':
      return [code, command.tenantId, command.integrationId, command.token];
    // What is nested travels as JSON text: it is read seldom, and has no keys but ours.
    case 'process-delivery': {
      const { tenantId, integrationId, deliveryId, changes } = command;
      return [code, tenantId, integrationId, deliveryId, JSON.stringify(changes)];
    }
    case 'correlate-alert':
      return [
        code,
        command.tenantId,
        command.alertId,
        JSON.stringify(command.candidates),
        matchJson(command),
      ];
    case 'mark-agent-stale':
      return [code, command.tenantId, command.agentId, command.lastSeenAtMs];
    case 'start-attempt':
      return [code, command.tenantId, command.outboundId];
    case 'finish-attempt':
      return [code, command.tenantId, command.outboundId, JSON.stringify(command.result)];
    case 'receive-delivery': {
      const { tenantId, integrationId, deliveryId, toolDeliveryId, bodyJson } = command;
      return [code, tenantId, integrationId, deliveryId, toolDeliveryId, bodyJson];
    }
  }
}

function matchJson({ match }: CorrelateAlert): string | null {
  return match === null ? null : JSON.stringify(match);
}

function commandOf(fields: Fields): Command {
  const code = fields.number();
  if (code === CODES['pass-time']) return { type: 'pass-time' };
  const tenant = tenantId(fields.text());
  switch (code) {
    case CODES.heartbeat:
      return { type: 'heartbeat', tenantId: tenant, agentId: agentId(fields.text()) };
    case CODES['register-agent']:
      return {
        type: 'register-agent',
        tenantId: tenant,
        agentId: agentId(fields.text()),
        keyId: keyId(fields.text()),
        hostname: fields.text(),
        name: fields.textOrNull(),
        version: fields.textOrNull(),
      };
    case CODES['create-tenant']:
      return { type: 'create-tenant', tenantId: tenant, name: fields.text() };
    case CODES['create-keys']:
      return { type: 'create-keys', tenantId: tenant, keys: fields.list(newKeyOf) };
    case CODES['revoke-key']:
      return { type: 'revoke-key', tenantId: tenant, keyId: keyId(fields.text()) };
    case CODES['create-integration']:
      return {
        type: 'create-integration',
        tenantId: tenant,
        integrationId: integrationId(fields.text()),
        integrationType: fields.member<IntegrationType>(INTEGRATION_TYPES),
        direction: fields.member<Direction>(DIRECTIONS),
        token: fields.text(),
      };
    case CODES['configure-integration']:
      return {
        type: 'configure-integration',
        tenantId: tenant,
        integrationId: integrationId(fields.text()),
        configJson: fields.text(),
      };
    case CODES['delete-integration']:
      return { type: 'delete-integration', tenantId: tenant, integrationId: integrationId(fields.text()) };
    case CODES['rotate-token']:
      return {
        type: 'rotate-token',
        tenantId: tenant,
        integrationId: integrationId(fields.text()),
        token: fields.text(),
      };
    case CODES['receive-delivery']:
      return {
        type: 'receive-delivery',
        tenantId: tenant,
        integrationId: integrationId(fields.text()),
        deliveryId: deliveryId(fields.text()),
        toolDeliveryId: fields.textOrNull(),
        bodyJson: fields.text(),
      };
    case CODES['process-delivery']:
      return {
        type: 'process-delivery',
        tenantId: tenant,
        integrationId: integrationId(fields.text()),
        deliveryId: deliveryId(fields.text()),
        changes: fields.json<readonly AlertChange[]>(),
      };
    case CODES['correlate-alert']:
      return {
        type: 'correlate-alert',
        tenantId: tenant,
        alertId: alertId(fields.text()),
        candidates: fields.json<readonly Candidate[]>(),
        match: fields.jsonOrNull<AlertMatch>(),
      };
    case CODES['mark-agent-stale']:
      return {
        type: 'mark-agent-stale',
        tenantId: tenant,
        agentId: agentId(fields.text()),
        lastSeenAtMs: fields.number(),
      };
    case CODES['start-attempt']:
      return { type: 'start-attempt', tenantId: tenant, outboundId: outboundId(fields.text()) };
    case CODES['finish-attempt']:
      return {
        type: 'finish-attempt',
        tenantId: tenant,
        outboundId: outboundId(fields.text()),
        result: fields.json<AttemptResult>(),
      };
    default:
      throw new Error(`command code ${code}: the log was written by a later version`);
  }
}
