/**
 * The listener: everything that has to do with uWebSockets.js and nothing that has to do with what is served.
 * Its traps are solved here once: aborts, corking, exceptions, smuggling, unmatched paths, HEAD, deadlines.
 */

import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { LIMITS } from '../domain/limits.ts';
import {
  badInput,
  COMPRESSED,
  METHOD_NOT_ALLOWED,
  NOT_FOUND,
  NOT_JSON,
  overloaded,
  type Rejection,
  unavailable,
} from '../domain/rejection.ts';
import type { Certificate } from '../lib/certificate.ts';
import type { Clock } from '../lib/clock.ts';
import { readStrictJson } from '../lib/json.ts';
import type { Scheduler } from '../lib/scheduler.ts';
import type { TrustedProxy } from '../lib/trusted-proxy.ts';
import { Authenticator, type KeyDirectory } from './authentication.ts';
import { readBody } from './body.ts';
import { ClientAddresses } from './client-addresses.ts';
import { type ConnectionOptions, limitConnections } from './connections.ts';
import { type DoorOptions, Doors } from './doors.ts';
import { Exchange } from './exchange.ts';
import { type Overload, type ShedGate, shedClassOf } from './overload.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { isJsonType, type RequestHead, readHead } from './request.ts';
import { options } from './responses.ts';
import { type BytesRoute, type Call, type KeyRoute, type Route, templateOf } from './route.ts';
import type { RouteTraffic } from './traffic.ts';
import { Waiting } from './waiting.ts';

export interface ListenerOptions extends ConnectionOptions, DoorOptions {
  readonly routes: readonly Route[];
  readonly keys: KeyDirectory;
  readonly maxBodyBytes: number;
  readonly maxWebhookBodyBytes: number;
  readonly scheduler: Scheduler;
  readonly clock: Clock;
  readonly rateLimiter: RateLimiter;
  readonly trustProxy: readonly TrustedProxy[];
  readonly overload: Overload;
  /** Why no request can be taken just now, or undefined where they can. */
  readonly unavailable: () => Rejection | undefined;
}

export interface Listener {
  /** Null where none is open. */
  readonly port: number | null;
  /** Requests that have come in and are not answered. */
  readonly inFlight: number;
  /** Serves connections from now on with this certificate. @throws Error where it cannot; then nothing changes */
  useCertificate(certificate: Certificate): void;
  /** Takes no new connections; answers close theirs. */
  stopAccepting(): void;
  /** Closes every connection, whatever it is waiting for; later calls do nothing. */
  close(): void;
}

/** uWebSockets.js never gives up on an answer that does not come; we do. */
const ANSWER_DEADLINE_MS = 15_000;
/** Often, since of requests that none follows, what was answered is kept until then. */
const DEADLINE_SWEEP_MS = 100;
/** RFC 9110, 12.5.3: with 415, what could be read instead. */
const PLAIN_ALONE = [['Accept-Encoding', 'identity']] as const;
const OVERLOADED = overloaded('the server has more to do than it can; try again');
const TOO_SLOW = unavailable('the server could not answer in time');

/** @throws Error where the address cannot be listened on, or the certificate cannot be served */
export async function listen(settings: ListenerOptions): Promise<Listener> {
  const server = new HttpServer(settings);
  try {
    await server.open();
  } catch (error) {
    server.close();
    throw error;
  }
  return server;
}

class HttpServer implements Listener {
  readonly #options: ListenerOptions;
  readonly #authenticator: Authenticator;
  readonly #clients: ClientAddresses;
  readonly #doors: Doors;
  readonly #waiting = new Waiting<Exchange>();
  #draining = false;
  #closed = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#authenticator = new Authenticator(options.keys);
    this.#clients = new ClientAddresses(options.trustProxy);
    this.#doors = new Doors(options, (app) => {
      limitConnections(app, options);
      this.#route(app);
    });
    this.#sweep();
  }

  get inFlight(): number {
    return this.#waiting.countOpen();
  }

  get port(): number | null {
    return this.#doors.port;
  }

  open(): Promise<void> {
    return this.#doors.open();
  }

  useCertificate(certificate: Certificate): void {
    this.#doors.useCertificate(certificate, this.#options.clock.monotonic());
  }

  stopAccepting(): void {
    this.#draining = true;
    this.#doors.stopAccepting();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#draining = true;
    this.#doors.close();
  }

  #route(app: TemplatedApp): void {
    const { overload } = this.#options;
    const { other } = this.#options.traffic;
    const byPath = Map.groupBy(this.#options.routes, (route) => route.path);
    for (const [path, routes] of byPath) {
      const paramCount = path.split('/:').length - 1;
      for (const route of routes) {
        const traffic = this.#options.traffic.route(route.method, templateOf(route.path));
        const shedClass = shedClassOf(route);
        const gate = shedClass && overload.gates.get(shedClass);
        const handler = (res: HttpResponse, req: HttpRequest) =>
          this.#take(res, req, route, gate, traffic, paramCount, false);
        if (route.method === 'GET') {
          app.get(path, handler);
          app.head(path, (res, req) => this.#take(res, req, route, gate, traffic, paramCount, true));
        } else if (route.method === 'POST') app.post(path, handler);
        else if (route.method === 'PUT') app.put(path, handler);
        else app.del(path, handler);
      }
      const allow = allowed(routes);
      app.options(path, (res, req) => {
        this.#open(res, req, other, false, (exchange) => exchange.answer(options(allow)));
      });
      app.any(path, (res, req) => {
        this.#open(res, req, other, req.getMethod() === 'head', (exchange) =>
          exchange.reject(METHOD_NOT_ALLOWED, [['Allow', allow]]),
        );
      });
    }
    app.any('/*', (res, req) => {
      this.#open(res, req, other, req.getMethod() === 'head', (exchange) => exchange.reject(NOT_FOUND));
    });
  }

  #take(
    res: HttpResponse,
    req: HttpRequest,
    route: Route,
    gate: ShedGate | undefined,
    traffic: RouteTraffic,
    paramCount: number,
    isHead: boolean,
  ): void {
    // In line, not a step for `#open`: two closures a request were 0.15 µs of an ingest.
    const exchange = this.#newExchange(res, traffic, isHead);
    try {
      const head = this.#headOf(req, exchange);
      if (head !== undefined) this.#dispatch(res, req, route, gate, exchange, head, paramCount);
    } catch (error) {
      exchange.threw(error);
    }
    exchange.leave();
  }

  #dispatch(
    res: HttpResponse,
    req: HttpRequest,
    route: Route,
    gate: ShedGate | undefined,
    exchange: Exchange,
    head: RequestHead,
    paramCount: number,
  ): void {
    if (route.access === 'public') return route.handle({ exchange, head, params: [], query: '' });
    const closed = this.#options.unavailable();
    if (closed !== undefined) return exchange.reject(closed);
    if (gate?.sheds === true) return exchange.reject(OVERLOADED);
    const params: string[] = [];
    for (let index = 0; index < paramCount; index += 1) params.push(req.getParameter(index) ?? '');
    const query = route.method === 'GET' ? req.getQuery() : '';
    const call = { exchange, head, params, query };
    if (route.access !== 'webhook-token') return this.#takeFromKeyHolder(res, route, call);
    const refused = route.admit(call);
    if (refused !== undefined) return this.#refuse(exchange, refused, head);
    if (head.contentEncoding !== '') return exchange.reject(COMPRESSED, PLAIN_ALONE);
    const maxBytes = this.#options.maxWebhookBodyBytes;
    readBody(res, exchange, { maxBytes, contentLength: head.contentLength }, (body) => {
      route.handle({ exchange, head, params, query, body });
      this.#awaitAnswer(exchange);
    });
  }

  #takeFromKeyHolder(res: HttpResponse, route: KeyRoute | BytesRoute, call: Call): void {
    const { exchange, head, params, query } = call;
    const key = this.#authenticator.authenticate(head.authorization, route.access);
    if ('type' in key) return this.#refuse(exchange, key, head);
    if (!this.#options.rateLimiter.admit(exchange, key)) return;
    if (route.body === 'none') {
      route.handle({ ...call, key, json: undefined });
      this.#awaitAnswer(exchange);
      return;
    }
    if (head.contentEncoding !== '') return exchange.reject(COMPRESSED, PLAIN_ALONE);
    if (route.body === 'bytes') {
      const { maxBytes } = route;
      readBody(res, exchange, { maxBytes, contentLength: head.contentLength }, (body) => {
        const refused = route.refuseType(head.contentType);
        if (refused !== undefined) return exchange.reject(refused);
        route.handle({ exchange, head, params, query, key, body });
        this.#awaitAnswer(exchange);
      });
      return;
    }
    const maxBytes = this.#options.maxBodyBytes;
    readBody(res, exchange, { maxBytes, contentLength: head.contentLength }, (body) => {
      if (!isJsonType(head.contentType)) return exchange.reject(NOT_JSON);
      const reading = readStrictJson(body, LIMITS.jsonDepth);
      if (reading.type === 'refused') return exchange.reject(badInput(reading.detail));
      route.handle({ ...call, key, json: reading.value });
      this.#awaitAnswer(exchange);
    });
  }

  /** Refuses who may be guessing. */
  #refuse(exchange: Exchange, rejection: Rejection, head: RequestHead): void {
    const caller = this.#clients.callerOf(exchange.remoteAddress, head);
    this.#options.rateLimiter.refuse(exchange, rejection, caller);
  }

  /** Opens the exchange for a request and runs a step of it. */
  #open(
    res: HttpResponse,
    req: HttpRequest,
    traffic: RouteTraffic,
    isHead: boolean,
    step: (exchange: Exchange, head: RequestHead) => void,
  ): void {
    const exchange = this.#newExchange(res, traffic, isHead);
    exchange.within(() => {
      const head = this.#headOf(req, exchange);
      if (head !== undefined) step(exchange, head);
    });
  }

  #newExchange(res: HttpResponse, traffic: RouteTraffic, isHead: boolean): Exchange {
    const { onThrow } = this.#options;
    return new Exchange(res, { requestId: this.#options.newRequestId(), isHead, traffic, onThrow });
  }

  /** Undefined where the connection had to be closed. */
  #headOf(req: HttpRequest, exchange: Exchange): RequestHead | undefined {
    const head = readHead(req);
    if (head === undefined) exchange.drop();
    else exchange.wantsJson = head.wantsJson;
    if (this.#draining) exchange.closeAfter();
    return head;
  }

  /** Bodies that do not come are uWebSockets.js's to give up on, answers that do not come are ours. */
  #awaitAnswer(exchange: Exchange): void {
    if (exchange.open) this.#waiting.add(exchange, this.#options.clock.monotonic() + ANSWER_DEADLINE_MS);
  }

  #sweep(): void {
    this.#waiting.takeOverdue(this.#options.clock.monotonic(), (exchange) => {
      exchange.closeAfter();
      exchange.reject(TOO_SLOW);
    });
    this.#options.scheduler.after(DEADLINE_SWEEP_MS, () => this.#sweep());
  }
}

function allowed(routes: readonly Route[]): string {
  const methods = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...methods, 'OPTIONS'].join(', ');
}
