/** What answers look like: statuses, JSON, and the two forms of an error (plain text, RFC 9457). */
import type { Rejection, RejectionKind } from '../domain/rejection.ts';
import { REQUEST_ID_DIGITS, type RequestId } from './request-id.ts';

export type Status =
  | 200
  | 201
  | 202
  | 204
  | 304
  | 400
  | 401
  | 403
  | 404
  | 405
  | 413
  | 415
  | 422
  | 429
  | 500
  | 503;

export const REASONS: { readonly [S in Status]: string } = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

export const STATUS_OF: { readonly [K in RejectionKind]: Status } = {
  'bad-input': 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'too-large': 413,
  'unsupported-media-type': 415,
  'key-reused': 422,
  // As remote-write receivers do: 403 and 429 would have an agent end, or try the same for ever.
  'limit-reached': 400,
  'rate-limited': 429,
  unavailable: 503,
  overloaded: 503,
};

export type Headers = readonly (readonly [name: string, value: string])[];

export interface Response {
  readonly status: Status;
  readonly headers: Headers;
  /** Null where there is none: 201 to an event, 204. */
  readonly body: string | Buffer | null;
}

/** Answers are of the moment and may hold secrets (webhook tokens): no cache may keep them. */
const JSON_HEADERS: Headers = [
  ['Content-Type', 'application/json'],
  ['Cache-Control', 'no-store'],
];
/** Proxies are told not to gather what is to be seen as it comes. */
export const STREAM_HEADERS: Headers = [
  ['Content-Type', 'text/event-stream'],
  ['Cache-Control', 'no-store'],
  ['X-Accel-Buffering', 'no'],
];
/**
 * A 404 may be kept by any cache that is not told otherwise, and the path of a webhook is a secret. Sentences quote what
 * was sent: no browser may take one for anything but text.
 */
export const ERROR_HEADERS: Headers = [
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
];
const TEXT_HEADERS: Headers = [['Content-Type', 'text/plain; charset=utf-8'], ...ERROR_HEADERS];
const PROBLEM_HEADERS: Headers = [['Content-Type', 'application/problem+json'], ...ERROR_HEADERS];

/** Seconds a client is asked to wait when the server cannot take its request just now. */
const RETRY_AFTER_SECONDS = '1';

export const EXTRA_HEADERS: { readonly [K in RejectionKind]?: Headers } = {
  unauthenticated: [['WWW-Authenticate', 'Bearer']],
  unavailable: [['Retry-After', RETRY_AFTER_SECONDS]],
  overloaded: [['Retry-After', RETRY_AFTER_SECONDS]],
};

interface StatusAndId {
  readonly bytes: ArrayBuffer;
  readonly view: DataView;
  /** The id is written over its end. */
  readonly idAt: number;
}

/** By status. */
const STATUSES: StatusAndId[] = [];
for (const [status, reason] of Object.entries(REASONS)) {
  const text = Buffer.from(`${status} ${reason}\r\nX-Request-Id: ${' '.repeat(REQUEST_ID_DIGITS)}`);
  const bytes = new Uint8Array(text).buffer;
  const idAt = text.length - REQUEST_ID_DIGITS;
  STATUSES[Number(status)] = { bytes, view: new DataView(bytes), idAt };
}

/**
 * A status and the header that every answer has, to be written as a status, and good until the next is asked for: one
 * call, where a header besides was 0.3 µs, and bytes, of which no string is made and flattened, 0.3 more.
 */
export function statusAndId(status: Status, requestId: RequestId): ArrayBuffer {
  const known = STATUSES[status];
  if (known === undefined) throw new Error(`no status ${status}`);
  requestId.writeTo(known.view, known.idAt);
  return known.bytes;
}

/** `body` is JSON text. */
export function json(status: Status, body: string | Buffer): Response {
  return { status, headers: JSON_HEADERS, body };
}

/** A page that runs no scripts and loads nothing, but for the styles whose hash is named. */
export function page(html: string, styleHash: string): Response {
  const policy = `default-src 'none'; style-src '${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  return {
    status: 200,
    headers: [
      ['Content-Type', 'text/html; charset=utf-8'],
      ['Content-Security-Policy', policy],
      ['X-Content-Type-Options', 'nosniff'],
      ['Referrer-Policy', 'no-referrer'],
    ],
    body: html,
  };
}

/** `body` is in the Prometheus text format. */
export function metricsResponse(body: string): Response {
  return {
    status: 200,
    headers: [
      ['Content-Type', 'text/plain; version=0.0.4; charset=utf-8'],
      ['Cache-Control', 'no-store'],
    ],
    body,
  };
}

export const CREATED: Response = { status: 201, headers: [], body: null };
export const NO_CONTENT: Response = { status: 204, headers: [], body: null };

/** The resource answers to the method, and to no other than `allow`. */
export function options(allow: string): Response {
  return { status: 204, headers: [['Allow', allow]], body: null };
}

/**
 * @param wantsJson the caller's Accept header names a JSON type
 * @param instance the request id
 */
export function errorResponse(
  rejection: Rejection,
  wantsJson: boolean,
  instance: RequestId,
  extra: Headers = [],
): Response {
  const headers = [...(EXTRA_HEADERS[rejection.kind] ?? []), ...extra];
  return errorBody(STATUS_OF[rejection.kind], rejection.detail, headers, wantsJson, instance);
}

/** Our own mistake: says so, and nothing about it. */
export function failure(wantsJson: boolean, instance: RequestId): Response {
  return errorBody(500, 'the server failed on this request', [], wantsJson, instance);
}

function errorBody(
  status: Status,
  detail: string,
  headers: Headers,
  wantsJson: boolean,
  instance: RequestId,
): Response {
  if (!wantsJson) return { status, headers: [...TEXT_HEADERS, ...headers], body: detail };
  const about = { type: 'about:blank', title: REASONS[status], status, detail };
  const problem = { ...about, instance: instance.toString() };
  return { status, headers: [...PROBLEM_HEADERS, ...headers], body: JSON.stringify(problem) };
}
