/** A client of a Foreshock server: the calls that agents make, and those that read what agents sent. */
import type { z } from 'zod';
import { ForeshockError } from './error.ts';
import { DEFAULT_RETRY, type RetryPolicy, retryAfterOf, waitBeforeRetry } from './retry.ts';
import * as wire from './wire.ts';

export interface ClientOptions {
  /** Where the server is, for example `http://127.0.0.1:8080`; a path in it is kept. */
  readonly baseUrl: string;
  /** An ingest key to send with, a read-only key to read with. */
  readonly apiKey: string;
  readonly fetch?: typeof fetch;
  readonly retry?: Partial<RetryPolicy>;
  /** How long one attempt may take, milliseconds; default 10 000. */
  readonly timeoutMs?: number;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface SendOptions extends CallOptions {
  /** The same for every attempt to send the same event, so that an answer that was lost makes no second event. */
  readonly idempotencyKey?: string;
}

interface Call<Answer> extends SendOptions {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  /** Throws where the body is not what the contract says. */
  readonly read: (body: string) => Answer;
}

/** An error body is one sentence; more than this comes from something that is no Foreshock server. */
const MAX_DETAIL_LENGTH = 500;

/**
 * Every method rejects with a `ForeshockError` once its attempts are spent or the server has refused, and with
 * the signal's reason when it is aborted. Neither ever holds the API key.
 */
export class ForeshockClient {
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #fetch: typeof fetch;
  readonly #retry: RetryPolicy;
  readonly #timeoutMs: number;

  /** @throws Error where the address is no http(s) URL, or the key could not stand in a header */
  constructor(options: ClientOptions) {
    this.#baseUrl = checkedBaseUrl(options.baseUrl);
    // fetch would refuse it too, with a message that quotes it.
    if (!/^[\x21-\x7e]+$/.test(options.apiKey))
      throw new Error('the API key is empty or holds characters no key has');
    this.#apiKey = options.apiKey;
    this.#fetch = options.fetch ?? fetch;
    this.#retry = { ...DEFAULT_RETRY, ...options.retry };
    this.#timeoutMs = options.timeoutMs ?? 10_000;
  }

  registerAgent(registration: wire.Registration, options: CallOptions = {}): Promise<wire.RegisteredAgent> {
    const path = '/v1/agents/register';
    return this.#call({
      ...options,
      method: 'POST',
      path,
      body: registration,
      read: json(wire.registeredAgent),
    });
  }

  async sendEvent(event: wire.EventBody, options: SendOptions = {}): Promise<void> {
    await this.#call({ ...options, method: 'POST', path: '/v1/events', body: event, read: nothing });
  }

  async heartbeat(agentId: string, options: CallOptions = {}): Promise<void> {
    const path = `/v1/agents/${encodeURIComponent(agentId)}/heartbeat`;
    await this.#call({ ...options, method: 'POST', path, read: nothing });
  }

  listAgents(options: CallOptions = {}): Promise<readonly wire.ListedAgent[]> {
    return this.#call({ ...options, method: 'GET', path: '/v1/agents', read: json(wire.agentList) });
  }

  /** One agent and a page of its event log. */
  getAgent(
    agentId: string,
    query: wire.EventLogQuery = {},
    options: CallOptions = {},
  ): Promise<wire.AgentPage> {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) search.set(name, String(value));
    const path = `/v1/agents/${encodeURIComponent(agentId)}${search.size > 0 ? `?${search}` : ''}`;
    return this.#call({ ...options, method: 'GET', path, read: json(wire.agentPage) });
  }

  listServices(options: CallOptions = {}): Promise<readonly wire.ListedService[]> {
    return this.#call({ ...options, method: 'GET', path: '/v1/services', read: json(wire.serviceList) });
  }

  /** The state window of a service. */
  getServiceContext(serviceId: string, options: CallOptions = {}): Promise<wire.ServiceContext> {
    const path = `/v1/services/${encodeURIComponent(serviceId)}/context`;
    return this.#call({ ...options, method: 'GET', path, read: json(wire.serviceContext) });
  }

  async #call<Answer>(call: Call<Answer>): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(call);
      } catch (error) {
        if (!(error instanceof ForeshockError && error.transient) || attempt >= this.#retry.attempts)
          throw error;
        if ((error.retryAfterMs ?? 0) > this.#retry.maxMs) throw error;
        await this.#retry.sleep(waitBeforeRetry(this.#retry, attempt, error.retryAfterMs), call.signal);
      }
    }
  }

  async #attempt<Answer>(call: Call<Answer>): Promise<Answer> {
    const name = `${call.method} ${call.path}`;
    const { response, body } = await this.#exchange(name, call);
    if (!response.ok) {
      const said = body.slice(0, MAX_DETAIL_LENGTH).replaceAll(this.#apiKey, '…').trim();
      const detail = said || response.statusText || 'the server gave no reason';
      throw new ForeshockError({
        call: name,
        status: response.status,
        detail,
        retryAfterMs: retryAfterOf(response.headers),
      });
    }
    try {
      return call.read(body);
    } catch {
      const detail = 'the answer is not what a Foreshock server sends; is the address right?';
      throw new ForeshockError({ call: name, status: response.status, detail });
    }
  }

  /** One request and its whole answer; the signal and the time limit hold for both. */
  async #exchange<Answer>(name: string, call: Call<Answer>): Promise<{ response: Response; body: string }> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    try {
      const response = await this.#fetch(this.#baseUrl + call.path, {
        method: call.method,
        headers: this.#headers(call),
        body: call.body ? JSON.stringify(call.body) : null,
        // A redirected POST would lose its body, and a redirect off the host its key.
        redirect: 'manual',
        signal: call.signal ? AbortSignal.any([call.signal, timeout]) : timeout,
      });
      return { response, body: await response.text() };
    } catch (error) {
      call.signal?.throwIfAborted();
      const reason = timeout.aborted ? `no answer within ${this.#timeoutMs} ms` : codeOf(error);
      throw new ForeshockError({
        call: name,
        status: null,
        detail: `the server cannot be reached (${reason})`,
      });
    }
  }

  #headers<Answer>(call: Call<Answer>): Record<string, string> {
    return {
      Authorization: `Bearer ${this.#apiKey}`,
      ...(call.body ? { 'Content-Type': 'application/json' } : {}),
      ...(call.idempotencyKey ? { 'Idempotency-Key': call.idempotencyKey } : {}),
    };
  }
}

function checkedBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error(`not an http or https address: ${text}`);
  if (url.username !== '' || url.password !== '') throw new Error('the address must not hold a password');
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** What went wrong below HTTP, for example `ECONNREFUSED`: the code alone, for messages may quote headers. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? cause.code : null;
  return typeof code === 'string' ? code : 'the connection failed';
}

function json<Answer>(schema: z.ZodType<Answer>): (body: string) => Answer {
  return (body) => schema.parse(JSON.parse(body));
}

function nothing(): void {}
