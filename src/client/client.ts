/**
 * A client of a Foreshock server: every operation of its API, under the name that the API's description gives it, and
 * what makes them easy to use: events in batches, lists without pages, the stream as something to iterate over. It needs
 * `fetch`, streams and `AbortSignal`, and nothing else of where it runs.
 */
import { list, nothing, object, text } from './answer.ts';
import { Batcher, type BatcherOptions } from './batcher.ts';
import { ForeshockError } from './error.ts';
import { entriesOf, PAGE_SIZE } from './pages.ts';
import { integrationPath, queryOf, segment } from './paths.ts';
import { readStream, type StreamMessage, type StreamOptions } from './stream.ts';
import { type CallOptions, type ClientRequest, Transport, type TransportOptions } from './transport.ts';
import type * as wire from './wire.ts';

export type ClientOptions = TransportOptions;

export interface SendOptions extends CallOptions {
  /**
   * The same for every attempt to send the same, so that an answer that was lost records nothing twice; a random one
   * where none is given. Give one to go on with a call of an earlier run.
   */
  readonly idempotencyKey?: string;
}

const readAgent = object<wire.Agent>('id', 'hostname');
const readIntegration = object<wire.Integration>('id', 'type', 'webhook_url');
const readBatchResult = object<wire.BatchResult>('accepted', 'rejected');

/**
 * Every method rejects with a `ForeshockError` once its attempts are spent or the server has refused, and with
 * the signal's reason when it is aborted. Neither ever holds the API key.
 */
export class ForeshockClient {
  readonly #transport: Transport;

  /** @throws Error where the address is no http(s) URL, or the key could not stand in a header */
  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
  }

  /** Once, before the first event; again it is the same agent, with hostname and version updated. Ingest key. */
  registerAgent(registration: wire.Registration, options: CallOptions = {}): Promise<wire.Agent> {
    return this.#write('POST', '/v1/agents/register', registration, readAgent, options);
  }

  /** Ingest key. */
  heartbeat(agentId: string, options: CallOptions = {}): Promise<void> {
    return this.#write('POST', `/v1/agents/${segment(agentId)}/heartbeat`, undefined, nothing, options);
  }

  listAgents(options: CallOptions = {}): Promise<readonly wire.AgentEntry[]> {
    return this.#read('/v1/agents', list<wire.AgentEntry>('id', 'hostname'), options);
  }

  /** An agent and a page of its event log. */
  showAgent(
    agentId: string,
    query: wire.EventFilter & wire.PageQuery = {},
    options: CallOptions = {},
  ): Promise<wire.AgentWithEvents> {
    const path = `/v1/agents/${segment(agentId)}${queryOf(query)}`;
    return this.#read(path, object<wire.AgentWithEvents>('agent', 'events', 'total_pages'), options);
  }

  /** An agent's whole event log, newest first. */
  agentEvents(
    agentId: string,
    filter: wire.EventFilter = {},
    options: CallOptions = {},
  ): AsyncGenerator<wire.StoredEvent, void, undefined> {
    return entriesOf(async (page) => {
      const query = { ...filter, page, per_page: PAGE_SIZE } as const;
      const { events, total_pages } = await this.showAgent(agentId, query, options);
      return { entries: events, total_pages };
    });
  }

  /** Ingest key. */
  recordEvent(event: wire.EventBody, options: SendOptions = {}): Promise<void> {
    return this.#write('POST', '/v1/events', event, nothing, withKey(options));
  }

  /** Up to 10 000, each judged by itself; but with one service too many all are refused (400): see `batcher`. */
  recordEvents(events: readonly wire.EventBody[], options: SendOptions = {}): Promise<wire.BatchResult> {
    return this.#recordLines(events.map((event) => JSON.stringify(event)).join('\n'), withKey(options));
  }

  /** For a source that does not end: gathers events and sends them as batches, in order, as far as there is room. */
  batcher(options: BatcherOptions = {}): Batcher {
    return new Batcher(options, {
      send: (lines, once) => this.#recordLines(lines, { ...once, retry: { attempts: 1 } }),
      newKey: newIdempotencyKey,
      retry: this.#transport.retry,
    });
  }

  listServices(options: CallOptions = {}): Promise<readonly wire.Service[]> {
    return this.#read('/v1/services', list<wire.Service>('id', 'name'), options);
  }

  /** What is live of a service. */
  showServiceContext(serviceId: string, options: CallOptions = {}): Promise<wire.StateWindow> {
    const path = `/v1/services/${segment(serviceId)}/context`;
    return this.#read(path, object<wire.StateWindow>('service', 'deploy_events'), options);
  }

  /** A page of what was told of a service, live or not, newest first. */
  showServiceLog(
    serviceId: string,
    query: wire.ServiceEventQuery = {},
    options: CallOptions = {},
  ): Promise<wire.ServiceEvents> {
    const path = `/v1/services/${segment(serviceId)}/events${queryOf(query)}`;
    return this.#read(path, object<wire.ServiceEvents>('events', 'per_page'), options);
  }

  listIntegrations(options: CallOptions = {}): Promise<readonly wire.Integration[]> {
    return this.#read('/v1/integrations', list<wire.Integration>('id', 'type'), options);
  }

  /** Not tried again where its answer is lost: there might be two. */
  createIntegration(integration: wire.NewIntegration, options: CallOptions = {}): Promise<wire.Integration> {
    return this.#call(
      { method: 'POST', path: '/v1/integrations', body: JSON.stringify(integration), isRepeatable: false },
      readIntegration,
      options,
    );
  }

  /** Replaces the whole configuration. */
  configureIntegration(
    integrationId: string,
    config: wire.IntegrationConfig,
    options: CallOptions = {},
  ): Promise<wire.Integration> {
    return this.#write('PUT', integrationPath(integrationId), { config }, readIntegration, options);
  }

  async deleteIntegration(integrationId: string, options: CallOptions = {}): Promise<void> {
    try {
      await this.#write('DELETE', integrationPath(integrationId), undefined, nothing, options);
    } catch (error) {
      // Not there any more, after an attempt whose answer was lost.
      if (!(error instanceof ForeshockError && error.status === 404 && error.attempts > 1)) throw error;
    }
  }

  /** Not tried again where its answer is lost: the token that comes of it is to be told. */
  rotateToken(integrationId: string, options: CallOptions = {}): Promise<wire.Integration> {
    const path = `${integrationPath(integrationId)}/rotate-token`;
    return this.#call({ method: 'POST', path, isRepeatable: false }, readIntegration, options);
  }

  /** What waits, and the latest of what is done. */
  listDeliveries(integrationId: string, options: CallOptions = {}): Promise<readonly wire.Delivery[]> {
    const path = `${integrationPath(integrationId)}/deliveries`;
    return this.#read(path, list<wire.Delivery>('id', 'state'), options);
  }

  /** A page of alerts, newest first. */
  listAlerts(
    query: wire.AlertFilter & wire.PageQuery = {},
    options: CallOptions = {},
  ): Promise<wire.AlertPage> {
    const path = `/v1/alerts${queryOf(query)}`;
    return this.#read(path, object<wire.AlertPage>('alerts', 'total_pages'), options);
  }

  /** All alerts, newest first. */
  alerts(
    filter: wire.AlertFilter = {},
    options: CallOptions = {},
  ): AsyncGenerator<wire.AlertSummary, void, undefined> {
    return entriesOf(async (page) => {
      const { alerts, total_pages } = await this.listAlerts(
        { ...filter, page, per_page: PAGE_SIZE },
        options,
      );
      return { entries: alerts, total_pages };
    });
  }

  /** An alert and what may have caused it. */
  showAlert(alertId: string, options: CallOptions = {}): Promise<wire.Alert> {
    return this.#read(`/v1/alerts/${segment(alertId)}`, object<wire.Alert>('id', 'candidates'), options);
  }

  /** What changes, as it changes: see `StreamMessage`. Ends only with an error, or where the loop is left. */
  async *stream(options: StreamOptions = {}): AsyncGenerator<StreamMessage, never, undefined> {
    const chunks = this.streamChunks(options);
    try {
      for (;;) yield* (await chunks.next()).value;
    } finally {
      await chunks.return(undefined as never);
    }
  }

  /** The same, with messages that came together given together. */
  streamChunks(options: StreamOptions = {}): AsyncGenerator<readonly StreamMessage[], never, undefined> {
    return readStream(this.#transport, options);
  }

  /** As an alerting tool calls it. No key but the token. */
  receiveWebhook(
    type: wire.Integration['type'],
    token: string,
    delivery: unknown,
    options: CallOptions & { readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<wire.WebhookResult> {
    const { headers = {} } = options;
    const path = `/webhooks/${segment(type)}/${segment(token)}`;
    const body = JSON.stringify(delivery);
    const request = { method: 'POST', path, body, headers, isRepeatable: true } as const;
    return this.#call(request, object<wire.WebhookResult>('accepted'), options);
  }

  showHealth(options: CallOptions = {}): Promise<wire.Health> {
    return this.#read('/healthz', object<wire.Health>('status'), options);
  }

  /** Rejects with the reason while the server does not serve; `retry: { attempts: 1 }` asks once. */
  showReadiness(options: CallOptions = {}): Promise<wire.Readiness> {
    return this.#read('/readyz', object<wire.Readiness>('status'), options);
  }

  /** In the Prometheus text format. */
  showMetrics(options: CallOptions = {}): Promise<string> {
    return this.#read('/metrics', text, options, 'text/plain, application/problem+json');
  }

  /** The API's description: an OpenAPI 3.1 document. */
  showDescription(options: CallOptions = {}): Promise<Readonly<Record<string, unknown>>> {
    return this.#read('/openapi.json', object<Record<string, unknown>>('openapi'), options);
  }

  /** The same as an HTML page. */
  showReference(options: CallOptions = {}): Promise<string> {
    return this.#read('/docs', text, options, 'text/html, application/problem+json');
  }

  #recordLines(body: string, options: SendOptions): Promise<wire.BatchResult> {
    const contentType = 'application/x-ndjson';
    const headers = keyHeader(options);
    const request = { method: 'POST', path: '/v1/events/batch', body, contentType, headers } as const;
    return this.#call({ ...request, isRepeatable: true }, readBatchResult, options);
  }

  #read<Answer>(
    path: string,
    read: (body: string) => Answer,
    options: CallOptions,
    accept?: string,
  ): Promise<Answer> {
    const request = { method: 'GET', path, isRepeatable: true, ...(accept && { accept }) } as const;
    return this.#call(request, read, options);
  }

  /** Of what comes to the same when it is carried out twice. */
  #write<Answer>(
    method: ClientRequest['method'],
    path: string,
    body: object | undefined,
    read: (body: string) => Answer,
    options: SendOptions,
  ): Promise<Answer> {
    const request = { method, path, headers: keyHeader(options), isRepeatable: true };
    return this.#call(
      body === undefined ? request : { ...request, body: JSON.stringify(body) },
      read,
      options,
    );
  }

  #call<Answer>(
    request: ClientRequest,
    read: (body: string) => Answer,
    options: CallOptions,
  ): Promise<Answer> {
    return this.#transport.call(request, read, options);
  }
}

function withKey(options: SendOptions): SendOptions {
  return { idempotencyKey: newIdempotencyKey(), ...options };
}

function keyHeader({ idempotencyKey }: SendOptions): Readonly<Record<string, string>> {
  return idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
}

/** 128 random bits. Browsers have crypto.randomUUID() for https and localhost only. */
function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
