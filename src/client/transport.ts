/** How a call gets to the server and back: one address, one key, attempts, time limits, and what errors say. */
import { ForeshockError } from './error.ts';
import { DEFAULT_RETRY, type RetryPolicy, retryAfterOf, waitBeforeRetry } from './retry.ts';

/** As the platform's `fetch`; another one may go over a unix socket, through a proxy, or keep a record. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface TransportOptions {
  /** Where the server is, for example `http://127.0.0.1:8080`; a path in it is kept. */
  readonly baseUrl: string;
  /** An ingest key to send with, a read-only key to read with; none for what needs none (`showHealth` …). */
  readonly apiKey?: string;
  readonly fetch?: Fetch;
  readonly retry?: Partial<RetryPolicy>;
  /** How long one attempt may take, milliseconds; default 10 000. */
  readonly timeoutMs?: number;
  /** How long a call may take with all its attempts and waits, milliseconds; default 120 000. */
  readonly deadlineMs?: number;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** In place of those of the client, for this call. */
  readonly timeoutMs?: number;
  readonly deadlineMs?: number;
  readonly retry?: Partial<RetryPolicy>;
}

export interface ClientRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: string;
  /** Default `application/json`. */
  readonly contentType?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Whether carrying it out twice comes to the same. One that is not is tried again only where the server has said
   * that it did nothing (429), never where an answer was lost.
   */
  readonly isRepeatable: boolean;
}

/** Errors are asked for as RFC 9457 says. */
const JSON_TYPES = 'application/json, application/problem+json';
/** An error body is one sentence; more than this comes from something that is no Foreshock server. */
const MAX_DETAIL_LENGTH = 500;
const NOT_FORESHOCK = 'the answer is not what a Foreshock server sends; is the address right?';

export class Transport {
  readonly #baseUrl: string;
  readonly #apiKey: string | undefined;
  readonly #fetch: Fetch;
  readonly #timeoutMs: number;
  readonly #deadlineMs: number;
  /** How it tries again where a call does not say otherwise. */
  readonly retry: RetryPolicy;

  /** @throws Error where the address is no http(s) URL, or the key could not stand in a header */
  constructor(options: TransportOptions) {
    this.#baseUrl = checkedBaseUrl(options.baseUrl);
    // fetch would refuse it too, with a message that quotes it.
    if (options.apiKey !== undefined && !/^[\x21-\x7e]+$/.test(options.apiKey))
      throw new Error('the API key is empty or holds characters no key has');
    this.#apiKey = options.apiKey;
    // Called as a method of anything but its window, a browser's fetch refuses.
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#deadlineMs = options.deadlineMs ?? 120_000;
    this.retry = { ...DEFAULT_RETRY, ...options.retry };
  }

  /** @param read makes the answer of the body; throws where it is not what the contract says */
  async call<Answer>(
    request: ClientRequest,
    read: (body: string) => Answer,
    options: CallOptions,
  ): Promise<Answer> {
    const retry = { ...this.retry, ...options.retry };
    const { timeoutMs = this.#timeoutMs, deadlineMs = this.#deadlineMs, signal } = options;
    const endMs = retry.now() + deadlineMs;
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const limitMs = Math.max(1, Math.min(timeoutMs, endMs - retry.now()));
      try {
        return await this.#attempt(request, read, limitMs, signal);
      } catch (error) {
        if (!(error instanceof ForeshockError)) throw error;
        const waitMs = waitBeforeRetry(retry, attempt, error.retryAfterMs);
        const isWorthIt = error.retryable && (request.isRepeatable || error.status === 429);
        const isInTime = (error.retryAfterMs ?? 0) <= retry.maxMs && retry.now() + waitMs < endMs;
        if (!isWorthIt || !isInTime || attempt >= retry.attempts)
          throw new ForeshockError({ ...failureOf(error), attempts: attempt });
        await retry.sleep(waitMs, signal);
      }
    }
  }

  /** One attempt, whose answer is handed over with its body unread; the signal holds for the body too. */
  async open(request: ClientRequest, signal: AbortSignal): Promise<Response> {
    const response = await this.#send(request, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw unreachable(nameOf(request), error);
    });
    if (!response.ok) throw this.#refusal(request, response, await response.text().catch(() => ''));
    return response;
  }

  async #attempt<Answer>(
    request: ClientRequest,
    read: (body: string) => Answer,
    limitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    const { response, body } = await this.#exchange(request, limitMs, signal);
    if (!response.ok) throw this.#refusal(request, response, body);
    try {
      return read(body);
    } catch {
      throw new ForeshockError({
        kind: 'unexpected',
        call: nameOf(request),
        ...aboutAnswer(response),
        detail: NOT_FORESHOCK,
      });
    }
  }

  /** One request and its whole answer; the signal and the time limit hold for both. */
  async #exchange(
    request: ClientRequest,
    limitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<{ response: Response; body: string }> {
    // AbortSignal.any and .timeout would leave something behind at a signal that outlives many calls.
    const attempt = new AbortController();
    const stop = () => attempt.abort(signal?.reason);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      attempt.abort();
    }, limitMs);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const response = await this.#send(request, attempt.signal);
      return { response, body: await response.text() };
    } catch (error) {
      signal?.throwIfAborted();
      if (!isLate) throw unreachable(nameOf(request), error);
      throw new ForeshockError({
        kind: 'timeout',
        call: nameOf(request),
        status: null,
        title: 'No answer',
        detail: `the server cannot be reached (no answer within ${Math.round(limitMs)} ms)`,
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  }

  #send(request: ClientRequest, signal: AbortSignal): Promise<Response> {
    const { method, path, body, contentType = 'application/json', accept = JSON_TYPES, headers } = request;
    return this.#fetch(this.#baseUrl + path, {
      method,
      headers: {
        Accept: accept,
        ...(this.#apiKey === undefined ? {} : { Authorization: `Bearer ${this.#apiKey}` }),
        ...(body === undefined ? {} : { 'Content-Type': contentType }),
        ...headers,
      },
      body: body ?? null,
      // A redirected POST would lose its body, and a redirect off the host its key.
      redirect: 'manual',
      signal,
    });
  }

  #refusal(request: ClientRequest, response: Response, body: string): ForeshockError {
    const about = aboutAnswer(response);
    const isOpaque = response.type === 'opaqueredirect';
    const said = this.#apiKey === undefined ? body : body.replaceAll(this.#apiKey, '…');
    const sentence = sentenceIn(said).slice(0, MAX_DETAIL_LENGTH).trim();
    return new ForeshockError({
      kind: 'refused',
      call: nameOf(request),
      ...about,
      detail: sentence || (isOpaque ? 'a redirect, which is not followed' : about.title),
      retryAfterMs: retryAfterOf(response.headers),
    });
  }
}

function nameOf({ method, path }: ClientRequest): string {
  return `${method} ${path}`;
}

function aboutAnswer({ status, statusText, headers }: Response) {
  return {
    status,
    title: statusText || 'the server gave no reason',
    requestId: headers.get('x-request-id'),
  };
}

/** The detail of a problem (RFC 9457), or what stands there. */
function sentenceIn(body: string): string {
  if (!body.startsWith('{')) return body;
  try {
    const { detail }: { readonly detail?: unknown } = JSON.parse(body);
    return typeof detail === 'string' ? detail : body;
  } catch {
    return body;
  }
}

function failureOf(error: ForeshockError) {
  const { kind, call, status, title, detail, requestId, retryAfterMs } = error;
  return { kind, call, status, title, detail, requestId, retryAfterMs };
}

function unreachable(call: string, error: unknown): ForeshockError {
  return new ForeshockError({
    kind: 'unreachable',
    call,
    status: null,
    title: 'No answer',
    detail: `the server cannot be reached (${codeOf(error)})`,
  });
}

/** What went wrong below HTTP, for example `ECONNREFUSED`: the code alone, for messages may quote headers. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? cause.code : null;
  return typeof code === 'string' ? code : 'the connection failed';
}

function checkedBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error(`not an http or https address: ${text}`);
  if (url.username !== '' || url.password !== '') throw new Error('the address must not hold a password');
  return url.origin + url.pathname.replace(/\/+$/, '');
}
