import { deduplicationKeyOf, signalsIn, verify } from '../alerting/inbound.ts';
import { deliveryId } from '../domain/ids.ts';
import type { Integration } from '../domain/integration.ts';
import {
  badInput,
  forbidden,
  NOT_FOUND,
  NOT_JSON,
  type Rejection,
  unauthenticated,
} from '../domain/rejection.ts';
import { readJson } from '../lib/json.ts';
import { type Api, carryOut } from './api.ts';
import { isJsonType } from './request.ts';
import { json } from './responses.ts';
import type { Call, RawCall } from './route.ts';

const OUTBOUND_ONLY = forbidden('this integration is outbound only: it takes no alerts');
const BAD_SIGNATURE = unauthenticated('the signature is missing or does not match');

/** A token that is unknown, rotated, deleted or of another type looks like a path that does not exist. */
export function admitWebhook(api: Api, { params }: Call): Rejection | undefined {
  const integration = integrationOf(api, params);
  if (integration === undefined) return NOT_FOUND;
  return integration.direction === 'outbound' ? OUTBOUND_ONLY : undefined;
}

function integrationOf(api: Api, [type, token]: readonly string[]): Integration | undefined {
  const integration = api.integrationByToken(token ?? '');
  return integration?.type === type ? integration : undefined;
}

/** POST /webhooks/{type}/{token}: the delivery is kept, then answered; what it means is worked out afterwards. */
export function receiveWebhook(api: Api, { exchange, head, params, body }: RawCall): void {
  const integration = integrationOf(api, params);
  // It may have been rotated away while the body came.
  if (integration === undefined) return exchange.reject(NOT_FOUND);
  if (!isJsonType(head.contentType)) return exchange.reject(NOT_JSON);
  if (!verify(integration.type, integration.configJson, head.signature, body)) {
    return exchange.reject(BAD_SIGNATURE);
  }
  const reading = readJson(body);
  if (reading.type === 'refused') return exchange.reject(badInput(reading.detail));

  const accepted = signalsIn(integration.type, reading.value).length;
  const answer = () => json(202, JSON.stringify({ accepted }));
  const toolDeliveryId = deduplicationKeyOf(integration.type, head, reading.value);
  const { tenantId, id: integrationId } = integration;
  if (toolDeliveryId !== null && api.queries.hasDelivery(tenantId, integrationId, toolDeliveryId)) {
    return exchange.answer(answer());
  }
  const command = {
    type: 'receive-delivery',
    tenantId,
    integrationId,
    deliveryId: deliveryId(api.entropy.uuid()),
    toolDeliveryId,
    bodyJson: reading.text,
  } as const;
  carryOut(api, exchange, command, answer);
}
