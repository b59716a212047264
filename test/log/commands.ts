/** Commands of every type, of values that a codec may trip over. */
import fc from 'fast-check';
import type { Command, CommandType } from '../../src/domain/command.ts';
import { type ContextEvent, EVENT_TYPES } from '../../src/domain/event.ts';
import {
  agentId,
  alertId,
  deliveryId,
  integrationId,
  keyId,
  outboundId,
  tenantId,
} from '../../src/domain/ids.ts';
import { DIRECTIONS, INTEGRATION_TYPES } from '../../src/domain/integration.ts';
import { KEY_KINDS } from '../../src/domain/key.ts';
import { anyText } from '../model/hostile-text.ts';

const LONG = 60_000;

/** Objects as decoding makes them, with the usual prototype. */
const plain = <T>(members: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(members, { noNullPrototype: true });

const text = fc.oneof(
  { weight: 30, arbitrary: anyText },
  {
    weight: 1,
    arbitrary: fc.constantFrom('a', 'é', '\uFEFF', '\u{10FFFF}').map((char) => char.repeat(LONG)),
  },
);
const textOrNull = fc.option(text, { freq: 3 });

/** Any number but NaN, infinities and -0: none of them passes the edge. */
const number = fc.oneof(
  fc.constantFrom(0, 1, -1, 127, 128, 255, 256, 1e308, 5e-324, 0.1, 1.1),
  fc.constantFrom(
    ...[31, 32, 52].flatMap((bits) => [2 ** bits - 1, 2 ** bits, -(2 ** bits), -(2 ** bits) - 1]),
  ),
  fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, Number.MAX_VALUE),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
);

export const anyEvent: fc.Arbitrary<ContextEvent> = plain({
  serviceName: text,
  vendor: text,
  entity: text,
  eventType: fc.constantFrom(...EVENT_TYPES),
  oldValue: textOrNull,
  newValue: textOrNull,
  actor: textOrNull,
  sha: textOrNull,
  confidence: number,
  ttlSeconds: number,
  timestampMs: fc.option(number),
  rawLine: textOrNull,
});

/** UUIDs, as ids are, and what is none; as long as those at the most: the room for them in a record of events is no more. */
export const idText = fc.oneof(
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
  anyText.map((id) => id.slice(0, 36).toWellFormed()),
);

const tenant = text.map(tenantId);
const agent = text.map(agentId);
const key = text.map(keyId);
const integration = text.map(integrationId);

const byType: { readonly [T in CommandType]: fc.Arbitrary<Extract<Command, { type: T }>> } = {
  'process-delivery': plain({
    type: fc.constant('process-delivery'),
    tenantId: tenant,
    integrationId: integration,
    deliveryId: text.map(deliveryId),
    changes: fc.array(plain({ type: fc.constant('resolved'), key: text, endedAtMs: fc.nat() }), {
      maxLength: 3,
    }),
  }),
  'correlate-alert': plain({
    type: fc.constant('correlate-alert'),
    tenantId: tenant,
    alertId: text.map(alertId),
    match: fc.option(plain({ type: fc.constant('unmatched'), reason: text })),
    candidates: fc.constant([]),
  }),
  'mark-agent-stale': plain({
    type: fc.constant('mark-agent-stale'),
    tenantId: tenant,
    agentId: agent,
    lastSeenAtMs: fc.nat(),
  }),
  'start-attempt': plain({
    type: fc.constant('start-attempt'),
    tenantId: tenant,
    outboundId: text.map(outboundId),
  }),
  'finish-attempt': plain({
    type: fc.constant('finish-attempt'),
    tenantId: tenant,
    outboundId: text.map(outboundId),
    result: fc.oneof(
      plain({ type: fc.constant('delivered'), noteId: fc.option(text), detail: text }),
      plain({ type: fc.constant('retry'), notBeforeMs: fc.nat(), isInDoubt: fc.boolean(), detail: text }),
      plain({ type: fc.constantFrom('gone', 'dead'), detail: text }),
    ),
  }),
  'pass-time': plain({ type: fc.constant('pass-time') }),
  'record-events': fc
    .tuple(
      plain({
        type: fc.constant('record-events'),
        tenantId: idText.map(tenantId),
        agentId: idText.map(agentId),
        events: fc.array(anyEvent, { maxLength: 20 }),
      }),
      fc.option(plain({ key: text, payloadHash: text })),
    )
    .map(([command, idempotency]) => (idempotency === null ? command : { ...command, idempotency })),
  heartbeat: plain({ type: fc.constant('heartbeat'), tenantId: tenant, agentId: agent }),
  'register-agent': plain({
    type: fc.constant('register-agent'),
    tenantId: tenant,
    agentId: agent,
    keyId: key,
    hostname: text,
    name: textOrNull,
    version: textOrNull,
  }),
  'create-tenant': plain({ type: fc.constant('create-tenant'), tenantId: tenant, name: text }),
  'create-keys': plain({
    type: fc.constant('create-keys'),
    tenantId: tenant,
    keys: fc.array(plain({ keyId: key, kind: fc.constantFrom(...KEY_KINDS), name: textOrNull, hash: text }), {
      maxLength: 20,
    }),
  }),
  'revoke-key': plain({ type: fc.constant('revoke-key'), tenantId: tenant, keyId: key }),
  'create-integration': plain({
    type: fc.constant('create-integration'),
    tenantId: tenant,
    integrationId: integration,
    integrationType: fc.constantFrom(...INTEGRATION_TYPES),
    direction: fc.constantFrom(...DIRECTIONS),
    token: text,
  }),
  'configure-integration': plain({
    type: fc.constant('configure-integration'),
    tenantId: tenant,
    integrationId: integration,
    configJson: fc.oneof(
      text,
      fc.dictionary(text, fc.jsonValue({ maxDepth: 1 })).map((config) => JSON.stringify(config)),
    ),
  }),
  'delete-integration': plain({
    type: fc.constant('delete-integration'),
    tenantId: tenant,
    integrationId: integration,
  }),
  'rotate-token': plain({
    type: fc.constant('rotate-token'),
    tenantId: tenant,
    integrationId: integration,
    token: text,
  }),
  'receive-delivery': plain({
    type: fc.constant('receive-delivery'),
    tenantId: tenant,
    integrationId: integration,
    deliveryId: text.map(deliveryId),
    toolDeliveryId: textOrNull,
    bodyJson: text,
  }),
};

export const COMMANDS: readonly (readonly [CommandType, fc.Arbitrary<Command>])[] = Object.entries(
  byType,
).map(([type, command]) => [type as CommandType, command]);

export const anyCommand: fc.Arbitrary<Command> = fc.oneof(...Object.values(byType));

/** As many events as the interface lets through in one batch, each with a text of its own. */
export const largestBatch: fc.Arbitrary<Command> = plain({
  tenantId: idText.map(tenantId),
  agentId: idText.map(agentId),
  some: fc.array(anyEvent, { minLength: 1, maxLength: 10 }),
}).map(({ tenantId, agentId, some }) => ({
  type: 'record-events',
  tenantId,
  agentId,
  events: Array.from({ length: 10_000 }, (_, n) => shortened(some[n % some.length] as ContextEvent, n)),
}));

/** Ten thousand of them must fit a record. */
function shortened(event: ContextEvent, n: number): ContextEvent {
  const cut = (value: string): string => value.slice(0, 200).toWellFormed();
  return {
    ...event,
    serviceName: cut(event.serviceName),
    vendor: cut(event.vendor),
    entity: cut(event.entity),
    oldValue: null,
    newValue: event.newValue && cut(event.newValue),
    actor: event.actor && cut(event.actor),
    sha: null,
    rawLine: `line ${n} 😀`,
  };
}
