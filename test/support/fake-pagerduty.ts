/**
 * PagerDuty as its documentation describes it, on a loopback port: notes on incidents (REST API v2) and Change
 * Events v2. It is strict: what the published schema does not allow is answered as PagerDuty would and also kept as
 * a violation, so that a test can demand that there is none. And it fails on demand in every way the documentation,
 * or a network, knows.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { z } from 'zod';

/** What becomes of the next call instead of an answer. What happens "after storing" happened to the note all the same. */
export type FakeFailure =
  | { readonly type: 'status'; readonly status: 400 | 401 | 402 | 403 | 404 | 408 | 500 | 502 | 503 }
  | { readonly type: 'rate-limited'; readonly resetSeconds: number }
  /** 429 as proxies say it, without PagerDuty's headers and body. */
  | { readonly type: 'retry-after'; readonly seconds: number }
  | { readonly type: 'no-answer' }
  | { readonly type: 'reset-before-reading' }
  | { readonly type: 'reset-after-reading' }
  | { readonly type: 'reset-after-storing' }
  /** The answer's head and the beginning of its body come, then a byte now and then. */
  | { readonly type: 'slow-body-after-storing' }
  | { readonly type: 'huge-body-after-storing' };

export interface FakeNote {
  readonly id: string;
  readonly content: string;
}

export interface FakeCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type FakeChangeEvent = z.infer<typeof changeEventSchema>;

export interface FakePagerDuty {
  /** Base URL of both APIs. */
  readonly url: string;
  readonly token: string;
  readonly from: string;
  readonly routingKey: string;
  readonly calls: readonly FakeCall[];
  readonly changeEvents: readonly FakeChangeEvent[];
  /** What no client of PagerDuty may do, one sentence each. */
  readonly violations: readonly string[];
  notes(incidentId: string): readonly FakeNote[];
  /** As users of PagerDuty do, by hand. */
  addNote(incidentId: string, content: string): FakeNote;
  deleteNote(incidentId: string, noteId: string): void;
  /** Failures are used up in the order in which they are asked for. */
  failNext(failure: FakeFailure, times?: number): void;
  stop(): Promise<void>;
}

export interface FakeOptions {
  readonly token?: string;
  readonly from?: string;
  readonly routingKey?: string;
  /** The incidents that there are; all where it is left out. */
  readonly incidents?: readonly string[];
  /** A free one where it is left out. */
  readonly port?: number;
  /**
   * Told of each call before anything comes of it, and again before it is answered. What it answers the first time
   * says whether anything is to come of the call.
   */
  readonly onCall?: (moment: 'read' | 'carried-out', call: FakeCall) => Promise<boolean>;
}

const MAX_NOTES = 2000;
const MAX_CHANGE_EVENT_BYTES = 512 * 1024;
const REST_ACCEPT = 'application/vnd.pagerduty+json;version=2';
const SLOW_BYTE_EVERY_MS = 20;

const noteBodySchema = z.strictObject({ note: z.strictObject({ content: z.string().min(1) }) });
const changeEventSchema = z.strictObject({
  routing_key: z.string().length(32),
  payload: z.strictObject({
    summary: z.string().min(1).max(1024),
    source: z.string().min(1).optional(),
    timestamp: z.iso.datetime({ offset: true }).optional(),
    custom_details: z.record(z.string(), z.unknown()).optional(),
  }),
  links: z.array(z.strictObject({ href: z.url(), text: z.string().optional() })).optional(),
});

/** Codes of PagerDuty's table of errors. */
const ERRORS: Readonly<Record<number, readonly [message: string, code: number]>> = {
  400: ['Invalid Input Provided', 2001],
  401: ['Authentication failed', 2006],
  402: ['Missing Account Ability', 2014],
  403: ['Access Denied', 2010],
  404: ['Not Found', 2100],
  408: ['The request took too long to process', 2016],
  500: ['An internal error has occurred. PagerDuty team has been notified.', 2000],
};

interface FakeAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

class Fake {
  readonly token: string;
  readonly from: string;
  readonly routingKey: string;
  readonly calls: FakeCall[] = [];
  readonly changeEvents: FakeChangeEvent[] = [];
  readonly violations: string[] = [];
  readonly #incidents: ReadonlySet<string> | undefined;
  readonly #notes = new Map<string, FakeNote[]>();
  readonly #failures: FakeFailure[] = [];
  readonly #onCall: NonNullable<FakeOptions['onCall']>;
  #nextNote = 1;

  constructor(options: FakeOptions) {
    this.token = options.token ?? 'u+example-token-0001';
    this.from = options.from ?? 'foreshock@example.com';
    this.routingKey = options.routingKey ?? '0123456789abcdef0123456789abcdef';
    this.#onCall = options.onCall ?? (async () => true);
    this.#incidents = options.incidents === undefined ? undefined : new Set(options.incidents);
  }

  notes(incidentId: string): readonly FakeNote[] {
    return [...(this.#notes.get(incidentId) ?? [])];
  }

  addNote(incidentId: string, content: string): FakeNote {
    const note = { id: `PNOTE${this.#nextNote++}`, content };
    const notes = this.#notes.get(incidentId);
    if (notes === undefined) this.#notes.set(incidentId, [note]);
    else notes.push(note);
    return note;
  }

  deleteNote(incidentId: string, noteId: string): void {
    this.#notes.set(
      incidentId,
      this.notes(incidentId).filter(({ id }) => id !== noteId),
    );
  }

  failNext(failure: FakeFailure, times = 1): void {
    for (let time = 0; time < times; time += 1) this.#failures.push(failure);
  }

  connected(socket: Socket): void {
    socket.on('error', () => {});
    if (this.#failures[0]?.type !== 'reset-before-reading') return;
    this.#failures.shift();
    socket.resetAndDestroy();
  }

  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url: path = '', headers } = request;
    const call = { method, path, headers, body: Buffer.concat(chunks).toString('utf8') };
    this.calls.push(call);
    if (!(await this.#onCall('read', call))) return void request.socket.destroy();
    const failure = this.#failures.shift();
    switch (failure?.type) {
      case 'status':
        return send(response, errorAnswer(failure.status));
      case 'rate-limited':
        return send(response, {
          status: 429,
          headers: {
            'ratelimit-limit': '960',
            'ratelimit-remaining': '0',
            'ratelimit-reset': String(failure.resetSeconds),
          },
          body: { error: { message: 'Rate Limit Exceeded', code: 2020 } },
        });
      case 'retry-after':
        response.writeHead(429, { 'retry-after': String(failure.seconds) });
        return void response.end('slow down');
      case 'no-answer':
        return;
      case 'reset-before-reading':
      case 'reset-after-reading':
        return void request.socket.resetAndDestroy();
      case 'reset-after-storing':
        this.#answer(call);
        return void request.socket.resetAndDestroy();
      case 'slow-body-after-storing':
        return sendSlowly(response, this.#answer(call));
      case 'huge-body-after-storing':
        return sendEndlessly(response, this.#answer(call));
      case undefined: {
        const answer = this.#answer(call);
        await this.#onCall('carried-out', call);
        return send(response, answer);
      }
    }
  }

  #answer(call: FakeCall): FakeAnswer {
    const notes = /^\/incidents\/([^/?#]+)\/notes(?:\/([^/?#]+))?$/.exec(call.path);
    if (call.path === '/v2/change/enqueue' && call.method === 'POST') return this.#changeEvent(call);
    if (notes === null) return this.#violation(404, `${call.method} ${call.path} is no operation`);
    return this.#onNotes(call, decodeURIComponent(notes[1] ?? ''), notes[2]);
  }

  #onNotes(call: FakeCall, incidentId: string, noteId: string | undefined): FakeAnswer {
    const { method, headers } = call;
    if (headers.accept !== REST_ACCEPT) return this.#violation(400, `Accept: ${headers.accept}`);
    if (!/^Token token=\S+$/.test(headers.authorization ?? '')) {
      return this.#violation(401, 'Authorization is not of the form "Token token=…"');
    }
    if (headers.authorization !== `Token token=${this.token}`) return errorAnswer(401);
    if (this.#incidents?.has(incidentId) === false) return errorAnswer(404);
    const notes = this.notes(incidentId);
    if (method === 'GET' && noteId === undefined) {
      return { status: 200, body: { notes: notes.map((note) => this.#shown(note)) } };
    }
    if (!(method === 'POST' && noteId === undefined) && !(method === 'PUT' && noteId !== undefined)) {
      return this.#violation(404, `${method} ${call.path} is no operation`);
    }
    if (headers['content-type'] !== 'application/json') {
      return this.#violation(400, `Content-Type: ${headers['content-type']}`);
    }
    if (!/^[^@\s]+@[^@\s]+$/.test(headers.from ?? '')) return this.#violation(400, `From: ${headers.from}`);
    if (headers.from !== this.from) return errorAnswer(400, 'Requester User Not Found', 1008);
    const parsed = noteBodySchema.safeParse(jsonOf(call.body));
    if (!parsed.success) return this.#violation(400, `a note: ${z.prettifyError(parsed.error)}`);
    const { content } = parsed.data.note;
    if (noteId === undefined) return this.#create(incidentId, content);
    if (!notes.some(({ id }) => id === noteId)) return errorAnswer(404);
    const note = { id: noteId, content };
    this.#notes.set(
      incidentId,
      notes.map((old) => (old.id === noteId ? note : old)),
    );
    return { status: 200, body: { note: this.#shown(note) } };
  }

  #create(incidentId: string, content: string): FakeAnswer {
    if (this.notes(incidentId).length >= MAX_NOTES) return errorAnswer(400);
    return { status: 200, body: { note: this.#shown(this.addNote(incidentId, content)) } };
  }

  #shown(note: FakeNote): object {
    return {
      ...note,
      user: { id: 'PUSER01', type: 'user_reference', summary: this.from },
      channel: { summary: 'The PagerDuty website or APIs' },
      created_at: '2026-08-22T10:15:03Z',
    };
  }

  #changeEvent(call: FakeCall): FakeAnswer {
    const wrong = (problem: string) => {
      this.violations.push(`a change event: ${problem}`);
      return {
        status: 400,
        body: { status: 'invalid event', message: 'Event object is invalid', errors: [problem] },
      };
    };
    if (call.headers.authorization !== undefined) return wrong('a token is sent to the Events API');
    if (call.headers['content-type'] !== 'application/json') return wrong('not JSON');
    if (Buffer.byteLength(call.body) > MAX_CHANGE_EVENT_BYTES) return wrong('longer than 512 KB');
    const parsed = changeEventSchema.safeParse(jsonOf(call.body));
    if (!parsed.success) return wrong(z.prettifyError(parsed.error));
    if (call.body.includes('raw_line')) return wrong('holds a raw_line');
    if (parsed.data.routing_key !== this.routingKey) {
      return {
        status: 400,
        body: {
          status: 'invalid event',
          message: 'Event object is invalid',
          errors: ['Invalid routing key'],
        },
      };
    }
    this.changeEvents.push(parsed.data);
    return { status: 202, body: { status: 'success', message: 'Event processed' } };
  }

  #violation(status: number, sentence: string): FakeAnswer {
    this.violations.push(sentence);
    return errorAnswer(status);
  }
}

export async function startFakePagerDuty(options: FakeOptions = {}): Promise<FakePagerDuty> {
  const fake = new Fake(options);
  const server = createServer((request, response) => {
    // A connection that is lost under the request ends the reading of it, and there is nobody left to answer.
    fake.take(request, response).catch(() => response.destroy());
  });
  server.on('connection', (socket) => fake.connected(socket));
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(fake, {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

function errorAnswer(status: number, message?: string, code?: number): FakeAnswer {
  const [usualMessage, usualCode] = ERRORS[status] ?? [`Status ${status}`, 2000];
  return { status, body: { error: { message: message ?? usualMessage, code: code ?? usualCode } } };
}

function send(response: ServerResponse, { status, headers, body }: FakeAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function sendSlowly(response: ServerResponse, { status, body }: FakeAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': '1000000' });
  response.write(JSON.stringify(body).slice(0, 20));
  const timer = setInterval(() => response.write(' '), SLOW_BYTE_EVERY_MS);
  response.on('close', () => clearInterval(timer));
}

function sendEndlessly(response: ServerResponse, { status }: FakeAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  const more = () => {
    while (response.write(' '.repeat(16_384)));
  };
  response.on('drain', more);
  more();
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
