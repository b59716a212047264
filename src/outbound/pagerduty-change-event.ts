/** PagerDuty's Change Events v2: deploys and flag changes, shown beside the incidents of the service. */
import type { PastEvent } from '../domain/alert.ts';
import type { ChangeType } from '../domain/event.ts';
import { onOneLine, shortened } from '../lib/text.ts';
import { type OutboundRequest, type Refused, refused } from './call-result.ts';
import { below } from './url.ts';

/** PagerDuty's limit. */
const MAX_SUMMARY_LENGTH = 1024;
/** Of an event's value in the summary and in the details; the event itself may hold 4096 characters. */
const MAX_SUMMARY_VALUE_LENGTH = 120;
const MAX_DETAIL_LENGTH = 1024;

const CHANGES: { readonly [T in ChangeType]: string } = { deploy: 'Deploy', flag_change: 'Flag change' };

/** Not a ContextEvent: its log line is never sent anywhere, so it does not come as far as here. */
export interface Change extends PastEvent {
  readonly eventType: ChangeType;
}

export interface ChangeEventAccount {
  /** https://events.pagerduty.com, or the host of another region. */
  readonly baseUrl: string;
  /** The integration key of a service; whoever has it can send events. */
  readonly routingKey: string;
}

/**
 * PagerDuty knows no deduplication of change events: one that is sent again after an answer was lost is there twice.
 *
 * @param link where a human reads on, or null
 */
export function sendChangeEvent(
  { baseUrl, routingKey }: ChangeEventAccount,
  change: Change,
  link: string | null,
): OutboundRequest | Refused {
  const url = below(baseUrl, ['v2', 'change', 'enqueue']);
  if (url === undefined) return refused('the base URL of the Events API is no URL');
  return {
    type: 'request',
    kind: 'change-event',
    method: 'POST',
    url,
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify({
      routing_key: routingKey,
      payload: {
        summary: summaryOf(change),
        timestamp: new Date(change.timestampMs).toISOString(),
        source: change.serviceName,
        custom_details: detailsOf(change),
      },
      ...(link === null ? {} : { links: [{ href: link, text: 'Foreshock' }] }),
    }),
    secrets: [routingKey],
  };
}

/** `Deploy of checkout-api (checkout): 3f1c → 9ab2 by alice`, on one line. */
function summaryOf(change: Change): string {
  const short = (text: string) => shortened(onOneLine(text), MAX_SUMMARY_VALUE_LENGTH);
  const { oldValue, actor, entity, serviceName } = change;
  const newValue = change.newValue ?? change.sha;
  const what = `${CHANGES[change.eventType]} of ${short(serviceName)}`;
  const where = entity === serviceName ? '' : ` (${short(entity)})`;
  const values = [oldValue, newValue]
    .filter((value) => value !== null && value !== '')
    .map((value) => short(value ?? ''));
  const step = values.length === 0 ? '' : `: ${values.join(' → ')}`;
  const who = actor === null ? '' : ` by ${short(actor)}`;
  return shortened(`${what}${where}${step}${who}`, MAX_SUMMARY_LENGTH);
}

function detailsOf(change: Change): Readonly<Record<string, string | number>> {
  const given = {
    event_id: change.id,
    event_type: change.eventType,
    service_name: change.serviceName,
    vendor: change.vendor,
    entity: change.entity,
    old_value: change.oldValue,
    new_value: change.newValue,
    actor: change.actor,
    sha: change.sha,
    confidence: change.confidence,
  };
  return Object.fromEntries(
    Object.entries(given)
      .filter((field): field is [string, string | number] => field[1] !== null)
      .map(([name, value]) => [
        name,
        typeof value === 'string' ? shortened(value, MAX_DETAIL_LENGTH) : value,
      ]),
  );
}
