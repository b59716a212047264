/**
 * The listener: everything that has to do with uWebSockets.js and nothing that has to do with what is served.
 * Its traps are solved here once: aborts, corking, exceptions, smuggling, unmatched paths, HEAD, deadlines.
 */

import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { LIMITS } from '../domain/limits.ts';
import {
  badInput,
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
/** Often, since what was answered is kept until then: what survives long is dear to collect. */
const DEADLINE_SWEEP_MS = 100;
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
  readonly #waiting = new Waiting();
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
    this.#open(res, req, traffic, isHead, (exchange, head) => {
      if (route.access === 'public') return route.handle({ exchange, head, params: [], query: '' });
      const closed = this.#options.unavailable();
      if (closed !== undefined) return exchange.reject(closed);
      if (gate?.sheds === true) return exchange.reject(OVERLOADED);
      const params: string[] = [];
      for (let index = 0; index < paramCount; index += 1) params.push(req.getParameter(index) ?? '');
      const query = route.method === 'GET' ? req.getQuery() : '';
      if (route.access === 'webhook-token') {
        const refused = route.admit({ exchange, head, params, query });
        if (refused !== undefined) return exchange.reject(refused);
        const maxBytes = this.#options.maxWebhookBodyBytes;
        readBody(res, exchange, { maxBytes, contentLength: head.contentLength }, (body) => {
          route.handle({ exchange, head, params, query, body });
          this.#awaitAnswer(exchange);
        });
        return;
      }
      this.#takeFromKeyHolder(res, route, { exchange, head, params, query });
    });
  }

  #takeFromKeyHolder(res: HttpResponse, route: KeyRoute | BytesRoute, call: Call): void {
    const { exchange, head } = call;
    const key = this.#authenticator.authenticate(head.authorization, route.access);
    if ('type' in key) {
      const caller = this.#clients.callerOf(exchange.remoteAddress, head);
      return this.#options.rateLimiter.refuse(exchange, key, caller);
    }
    if (!this.#options.rateLimiter.admit(exchange, key)) return;
    if (route.body === 'none') {
      route.handle({ ...call, key, json: undefined });
      this.#awaitAnswer(exchange);
      return;
    }
    if (route.body === 'bytes') {
      const { maxBytes } = route;
      readBody(res, exchange, { maxBytes, contentLength: head.contentLength }, (body) => {
        const refused = route.refuseType(head.contentType);
        if (refused !== undefined) return exchange.reject(refused);
        route.handle({ ...call, key, body });
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

  /** Opens the exchange for a request and runs a step of it. */
  #open(
    res: HttpResponse,
    req: HttpRequest,
    traffic: RouteTraffic,
    isHead: boolean,
    step: (exchange: Exchange, head: RequestHead) => void,
  ): void {
    const requestId = this.#options.newRequestId();
    const exchange = new Exchange(res, { requestId, isHead, traffic, onThrow: this.#options.onThrow });
    exchange.within(() => {
      const head = readHead(req);
      if (head === undefined) return exchange.drop();
      exchange.wantsJson = head.wantsJson;
      if (this.#draining) exchange.closeAfter();
      step(exchange, head);
    });
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
