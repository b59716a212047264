import { type IntegrationId, integrationId, parseUuid } from '../domain/ids.ts';
import { LIMITS } from '../domain/limits.ts';
import { badInput, NOT_FOUND } from '../domain/rejection.ts';
import { newWebhookToken } from '../lib/secrets.ts';
import { type Api, carryOut, replyWhenMade, show } from './api.ts';
import { NO_CONTENT } from './responses.ts';
import type { KeyCall } from './route.ts';
import { integrationUpdateSchema, newIntegrationSchema, read } from './schemas.ts';

const NO_CONFIG_YET = badInput('config is not taken here: PUT it to the integration that this makes');

/** GET /v1/integrations */
export function listIntegrations(api: Api, { exchange, key }: KeyCall): void {
  replyWhenMade(api, exchange, api.queries.integrations(key.tenantId));
}

/** POST /v1/integrations */
export function createIntegration(api: Api, { exchange, key, json }: KeyCall): void {
  // Let be, it would look as though it were kept: a secret that is not there protects nothing.
  if (typeof json === 'object' && json !== null && 'config' in json) return exchange.reject(NO_CONFIG_YET);
  const wanted = read(newIntegrationSchema, json);
  if (wanted.type === 'rejection') return exchange.reject(wanted);
  const { type: integrationType, direction } = wanted.data;
  const { tenantId } = key;
  const id = integrationId(api.entropy.uuid());
  const token = newWebhookToken(api.entropy);
  const command = {
    type: 'create-integration',
    tenantId,
    integrationId: id,
    integrationType,
    direction,
    token,
  } as const;
  carryOut(api, exchange, command, () => show(api.queries.integration(tenantId, id), 201));
}

/** PUT /v1/integrations/{id} */
export function updateIntegration(api: Api, call: KeyCall): void {
  const { exchange, key, json } = call;
  const id = idOf(call);
  if (id === undefined) return exchange.reject(NOT_FOUND);
  const update = read(integrationUpdateSchema, json);
  if (update.type === 'rejection') return exchange.reject(update);
  const configJson = JSON.stringify(configIn(json));
  if (Buffer.byteLength(configJson) > LIMITS.configBytes) {
    return exchange.reject(badInput(`config must be at most ${LIMITS.configBytes} bytes of JSON`));
  }
  const { tenantId } = key;
  const command = { type: 'configure-integration', tenantId, integrationId: id, configJson } as const;
  carryOut(api, exchange, command, () => show(api.queries.integration(tenantId, id)));
}

/** DELETE /v1/integrations/{id} */
export function deleteIntegration(api: Api, call: KeyCall): void {
  const { exchange, key } = call;
  const id = idOf(call);
  if (id === undefined) return exchange.reject(NOT_FOUND);
  const command = { type: 'delete-integration', tenantId: key.tenantId, integrationId: id } as const;
  carryOut(api, exchange, command, () => NO_CONTENT);
}

/** POST /v1/integrations/{id}/rotate-token */
export function rotateToken(api: Api, call: KeyCall): void {
  const { exchange, key } = call;
  const id = idOf(call);
  if (id === undefined) return exchange.reject(NOT_FOUND);
  const { tenantId } = key;
  const token = newWebhookToken(api.entropy);
  const command = { type: 'rotate-token', tenantId, integrationId: id, token } as const;
  carryOut(api, exchange, command, () => show(api.queries.integration(tenantId, id)));
}

/** As it was sent: reading it by its schema may have dropped keys such as `__proto__`. */
function configIn(json: unknown): unknown {
  return typeof json === 'object' && json !== null && 'config' in json ? json.config : {};
}

function idOf({ params }: KeyCall): IntegrationId | undefined {
  const id = parseUuid(params[0] ?? '');
  return id === undefined ? undefined : integrationId(id);
}
