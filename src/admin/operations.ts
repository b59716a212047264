/** What an operator of the box can do: tenants and keys. The same whether a server runs or not. */
import { z } from 'zod';
import type { Outcome } from '../commands/apply.ts';
import type { Pipeline } from '../commands/pipeline.ts';
import type { State, Tenant } from '../commands/state.ts';
import type { Command } from '../domain/command.ts';
import { keyId, parseUuid, tenantId } from '../domain/ids.ts';
import { type ApiKey, KEY_KINDS, type KeyKind } from '../domain/key.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Entropy } from '../lib/entropy.ts';
import { newApiKey, sha256Hex } from '../lib/secrets.ts';

const name = z
  .string()
  .min(1)
  .max(LIMITS.nameLength)
  .refine((text) => text.isWellFormed(), 'half a surrogate pair');

/** At most this many keys are made by one request. */
export const MAX_KEYS_AT_ONCE = 10_000;

const FIRST_TENANT = 'default';

export const adminRequestSchema = z.discriminatedUnion('operation', [
  z.strictObject({ operation: z.literal('tenants.create'), name }),
  z.strictObject({ operation: z.literal('tenants.list') }),
  z.strictObject({
    operation: z.literal('keys.create'),
    tenant: name,
    kind: z.enum(KEY_KINDS),
    name: name.nullable(),
    count: z.int().min(1).max(MAX_KEYS_AT_ONCE),
  }),
  z.strictObject({ operation: z.literal('keys.list'), tenant: name.nullable() }),
  z.strictObject({ operation: z.literal('keys.revoke'), id: z.string() }),
]);

export type AdminRequest = z.infer<typeof adminRequestSchema>;

const rowSchema = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));

export const adminAnswerSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('rows'), rows: z.array(rowSchema) }),
  z.object({ type: z.literal('refused'), reason: z.string() }),
]);

/** An object to print, one a line with `--json`. */
export type AdminRow = z.infer<typeof rowSchema>;

export type AdminAnswer = z.infer<typeof adminAnswerSchema>;

export interface AdminOptions {
  readonly state: State;
  readonly pipeline: Pipeline;
  readonly entropy: Entropy;
}

export async function administer(options: AdminOptions, request: AdminRequest): Promise<AdminAnswer> {
  switch (request.operation) {
    case 'tenants.create':
      return createTenant(options, request.name);
    case 'tenants.list':
      return rows([...options.state.tenants.values()].map(tenantRow));
    case 'keys.create':
      return createKeys(options, request);
    case 'keys.list':
      return listKeys(options.state, request.tenant);
    case 'keys.revoke':
      return revokeKey(options, request.id);
  }
}

/** The secrets of a first start: a tenant and a key of each kind. */
export interface FirstKeys {
  readonly tenant: string;
  readonly tenantId: string;
  readonly ingest: string;
  readonly readOnly: string;
}

/**
 * A tenant `default` with a key of each kind, where nobody has a key yet: on the first start, or when that
 * was cut off before its keys were made.
 *
 * @throws Error where the log does not take them
 */
export async function createFirstKeys(options: AdminOptions): Promise<FirstKeys | undefined> {
  const { state } = options;
  if ([...state.tenants.values()].some((tenant) => tenant.keys.size > 0)) return undefined;
  if (!state.tenantsByName.has(FIRST_TENANT)) rowsOf(await createTenant(options, FIRST_TENANT));
  const tenant = state.tenantsByName.get(FIRST_TENANT);
  if (tenant === undefined) throw new Error('the first tenant was not made');
  const made = rowsOf(await makeKeys(options, tenant, ['ingest', 'read-only'], 'first start'));
  const [ingest, readOnly] = made.map((row) => String(row['key']));
  if (ingest === undefined || readOnly === undefined) throw new Error('the first keys were not made');
  return { tenant: FIRST_TENANT, tenantId: tenant.id, ingest, readOnly };
}

function rowsOf(answer: AdminAnswer): readonly AdminRow[] {
  if (answer.type === 'refused') throw new Error(answer.reason);
  return answer.rows;
}

async function createTenant(options: AdminOptions, name: string): Promise<AdminAnswer> {
  const id = tenantId(options.entropy.uuid());
  const outcome = await submit(options, { type: 'create-tenant', tenantId: id, name });
  if (outcome.type === 'rejection') return refused(outcome.detail);
  const tenant = options.state.tenants.get(id);
  return rows(tenant === undefined ? [] : [tenantRow(tenant)]);
}

async function createKeys(
  options: AdminOptions,
  wanted: {
    readonly tenant: string;
    readonly kind: KeyKind;
    readonly name: string | null;
    readonly count: number;
  },
): Promise<AdminAnswer> {
  const tenant = options.state.tenantsByName.get(wanted.tenant);
  if (tenant === undefined) return noTenant(wanted.tenant);
  return makeKeys(options, tenant, Array<KeyKind>(wanted.count).fill(wanted.kind), wanted.name);
}

/** All or none: a key that was made and never shown would be of no use to anybody. */
async function makeKeys(
  options: AdminOptions,
  tenant: Tenant,
  kinds: readonly KeyKind[],
  name: string | null,
): Promise<AdminAnswer> {
  const { entropy } = options;
  const made = kinds.map((kind) => ({
    id: keyId(entropy.uuid()),
    kind,
    key: newApiKey(kind === 'ingest' ? 'fsk_ing_' : 'fsk_ro_', entropy),
  }));
  const keys = made.map(({ id, kind, key }) => ({ keyId: id, kind, name, hash: sha256Hex(key) }));
  const outcome = await submit(options, { type: 'create-keys', tenantId: tenant.id, keys });
  if (outcome.type === 'rejection') return refused(outcome.detail);
  return rows(made.map(({ id, kind, key }) => ({ id, tenant_id: tenant.id, kind, key })));
}

function listKeys(state: State, tenantName: string | null): AdminAnswer {
  if (tenantName === null) return rows([...state.tenants.values()].flatMap(keyRows));
  const tenant = state.tenantsByName.get(tenantName);
  return tenant === undefined ? noTenant(tenantName) : rows(keyRows(tenant));
}

async function revokeKey(options: AdminOptions, text: string): Promise<AdminAnswer> {
  const uuid = parseUuid(text);
  if (uuid === undefined) {
    // A key that somebody took for its id is not to be printed.
    const what = text.startsWith('fsk_') ? 'that is a key' : `${JSON.stringify(text)} is not the id of a key`;
    return refused(`${what}; give the id, which keys list shows`);
  }
  const id = keyId(uuid);
  for (const tenant of options.state.tenants.values()) {
    if (!tenant.keys.has(id)) continue;
    const outcome = await submit(options, { type: 'revoke-key', tenantId: tenant.id, keyId: id });
    if (outcome.type === 'rejection') return refused(outcome.detail);
    const key = tenant.keys.get(id);
    return rows(key === undefined ? [] : [keyRow(tenant, key)]);
  }
  return refused(`there is no key ${id}`);
}

function submit({ pipeline }: AdminOptions, command: Command): Promise<Outcome> {
  return new Promise((resolve) => pipeline.submit(command, resolve));
}

function rows(all: AdminRow[]): AdminAnswer {
  return { type: 'rows', rows: all };
}

function refused(reason: string): AdminAnswer {
  return { type: 'refused', reason };
}

function noTenant(name: string): AdminAnswer {
  return refused(`there is no tenant named ${JSON.stringify(name)}`);
}

function tenantRow({ id, name, createdAtMs }: Tenant): AdminRow {
  return { id, name, created_at: new Date(createdAtMs).toISOString() };
}

function keyRows(tenant: Tenant): AdminRow[] {
  return [...tenant.keys.values()].map((key) => keyRow(tenant, key));
}

function keyRow(tenant: Tenant, key: ApiKey): AdminRow {
  return {
    id: key.id,
    tenant: tenant.name,
    tenant_id: tenant.id,
    kind: key.kind,
    name: key.name,
    created_at: new Date(key.createdAtMs).toISOString(),
    revoked_at: key.revokedAtMs === null ? null : new Date(key.revokedAtMs).toISOString(),
  };
}
