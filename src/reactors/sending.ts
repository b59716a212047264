/** One attempt at an outbound delivery: which requests it takes, and what has become of it. */
import type { IntegrationActor } from '../actors/integration.ts';
import { noteText } from '../alerting/note-text.ts';
import type { Tenant } from '../commands/state.ts';
import { isChange } from '../domain/event.ts';
import type { IntegrationConfig } from '../domain/integration-config.ts';
import type { OutboundDelivery, OutboundSubject } from '../domain/outbound.ts';
import { sendStaleAgent } from '../outbound/alertmanager-alerts.ts';
import type { CallResult, OutboundRequest, Refused } from '../outbound/call-result.ts';
import { sendChangeEvent } from '../outbound/pagerduty-change-event.ts';
import {
  createNote,
  findNote,
  listNotes,
  MAX_NOTE_LIST_BYTES,
  type NoteFinding,
  type NoteText,
  type PagerDutyAccount,
  updateNote,
} from '../outbound/pagerduty-notes.ts';
import { type Verdict, verdictOf } from '../outbound/verdict.ts';

export interface SendingOptions {
  /** The operator's: no tenant decides where its secrets go. */
  readonly pagerdutyApiUrl: string;
  readonly pagerdutyEventsUrl: string;
  readonly call: (request: OutboundRequest, maxAnswerBytes?: number) => Promise<CallResult>;
  /** What links begin with. */
  readonly baseUrl: () => string;
}

/** How long Alertmanager keeps an alarm that is not raised again. */
export const RAISED_FOR_MS = 30 * 60 * 1000;

export async function send(
  tenant: Tenant,
  { config }: IntegrationActor,
  delivery: OutboundDelivery,
  nowMs: number,
  options: SendingOptions,
): Promise<Verdict> {
  const { subject } = delivery;
  if (subject.type === 'note') return sendNote(tenant, config, delivery, subject, options);
  return sendOnce(requestFor(tenant, config, subject, nowMs, options), options);
}

async function sendOnce(
  request: OutboundRequest | Refused,
  { call }: SendingOptions,
  maxAnswerBytes?: number,
): Promise<Verdict> {
  if (request.type === 'refused') return { type: 'dead', detail: request.reason };
  return verdictOf(request, await call(request, maxAnswerBytes));
}

export function requestFor(
  tenant: Tenant,
  config: IntegrationConfig,
  subject: Exclude<OutboundSubject, { type: 'note' }>,
  nowMs: number,
  { pagerdutyEventsUrl, baseUrl }: SendingOptions,
): OutboundRequest | Refused {
  if (subject.type === 'change-event') {
    const routingKey = config.pagerdutyRoutingKey;
    const { event } = subject;
    if (routingKey === null) return missing('pagerduty_routing_key');
    if (!isChange(event.eventType)) return { type: 'refused', reason: 'not a change' };
    const change = { ...event, eventType: event.eventType };
    return sendChangeEvent({ baseUrl: pagerdutyEventsUrl, routingKey }, change, baseUrl());
  }
  const { alertmanagerUrl } = config;
  if (alertmanagerUrl === null) return missing('alertmanager_url');
  const agent = { ...subject.agent, tenant: tenant.name };
  const staleness =
    subject.type === 'agent-stale'
      ? ({ type: 'raised', untilMs: nowMs + RAISED_FOR_MS } as const)
      : ({ type: 'resolved', atMs: subject.returnedAtMs } as const);
  return sendStaleAgent(alertmanagerUrl, agent, staleness, `${baseUrl()}/v1/agents/${agent.id}`);
}

async function sendNote(
  tenant: Tenant,
  config: IntegrationConfig,
  { id, noteId, isInDoubt }: OutboundDelivery,
  { alertId, incident }: Extract<OutboundSubject, { type: 'note' }>,
  options: SendingOptions,
): Promise<Verdict> {
  const { pagerdutyToken: token, pagerdutyFrom: from } = config;
  if (token === null) return dead('pagerduty_token');
  if (from === null) return dead('pagerduty_from');
  const alert = tenant.alerts.alerts.get(alertId)?.context;
  if (alert === undefined) return { type: 'dead', detail: 'the alert is not kept any more' };
  const account = { baseUrl: options.pagerdutyApiUrl, token, from };
  const { title, match, candidates } = alert;
  const serviceName = match.type === 'matched' ? match.serviceName : null;
  const alertUrl = `${options.baseUrl()}/v1/alerts/${alertId}`;
  const note: NoteText = {
    text: noteText({ title, serviceName, candidates, alertUrl }),
    // Whose it is too: integrations of two tenants may write to one account.
    marker: `foreshock ${incident} ${id.slice(0, 8)}`,
  };
  if (noteId !== null)
    return asUpdated(noteId, await sendOnce(updateNote(account, incident, noteId, note), options));
  if (isInDoubt) {
    const found = await lookForNote(account, incident, note, options);
    if (found.type === 'found') {
      return asUpdated(
        found.noteId,
        await sendOnce(updateNote(account, incident, found.noteId, note), options),
      );
    }
    if (found.type !== 'absent') return found;
  }
  return sendOnce(createNote(account, incident, note), options);
}

type Lookup = Exclude<NoteFinding, { type: 'unreadable' }> | Verdict;

/** The note that was made after all, or that there is none; or why that is not known. */
async function lookForNote(
  account: PagerDutyAccount,
  incident: string,
  note: NoteText,
  options: SendingOptions,
): Promise<Lookup> {
  const request = listNotes(account, incident);
  if (request.type === 'refused') return { type: 'dead', detail: request.reason };
  const answer = await options.call(request, MAX_NOTE_LIST_BYTES);
  const verdict = verdictOf(request, answer);
  if (verdict.type !== 'delivered' || answer.type !== 'answered') return verdict;
  const finding = findNote(answer, note.marker);
  if (finding.type !== 'unreadable') return finding;
  return { type: 'retry', afterMs: null, inDoubt: true, detail: 'the list of notes cannot be read' };
}

function asUpdated(noteId: string, verdict: Verdict): Verdict {
  return verdict.type === 'delivered' ? { ...verdict, noteId } : verdict;
}

function missing(key: string): Refused {
  return { type: 'refused', reason: `${key} is missing in the config of the integration` };
}

function dead(key: string): Verdict {
  return { type: 'dead', detail: missing(key).reason };
}
