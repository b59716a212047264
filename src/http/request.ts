/** What of a request is read, once, while uWebSockets.js still lends it. */
import type { HttpRequest } from 'uWebSockets.js';

export interface RequestHead {
  readonly authorization: string;
  readonly contentType: string;
  /** Content-Encoding: empty where the body is sent as it is. */
  readonly contentEncoding: string;
  /** Accept-Encoding names gzip, and does not refuse it. */
  readonly acceptsGzip: boolean;
  /** The Accept header names `application/json` or `application/problem+json`. */
  readonly wantsJson: boolean;
  /** Undefined where it is not given: chunked, or no body. */
  readonly contentLength: number | undefined;
  /** X-PagerDuty-Signature */
  readonly signature: string;
  /** X-Webhook-Id */
  readonly webhookId: string;
  /** Idempotency-Key; of several, all of them, which is a key no more. */
  readonly idempotencyKey: string | undefined;
  /** Last-Event-ID */
  readonly lastEventId: string;
  /** If-None-Match */
  readonly ifNoneMatch: string;
  /** X-Forwarded-For; of several, all of them in order. Anybody can write it: ask `ClientAddresses`. */
  readonly forwardedFor: string;
  /** A proxy has said that it handed the request on. */
  readonly isForwarded: boolean;
}

const ACCEPTS_GZIP = /(?:^|,)\s*gzip\s*(?:$|,|;\s*q=(?:1|0\.\d*[1-9]))/i;
const ACCEPTS_JSON = /application\/(?:problem\+)?json\s*(?:[;,]|$)/i;

/**
 * Reads the headers in one pass. Undefined for a request that two programs could read differently (request
 * smuggling): uWebSockets.js takes the first of several Content-Length and any Transfer-Encoding as chunked.
 * Such a connection must be closed, for what follows on it cannot be trusted either.
 */
export function readHead(req: HttpRequest): RequestHead | undefined {
  let authorization = '';
  let contentType = '';
  let contentEncoding = '';
  let accept = '';
  let acceptEncoding = '';
  let contentLength = '';
  let signature = '';
  let webhookId = '';
  let idempotencyKey: string | undefined;
  let lastEventId = '';
  let ifNoneMatch = '';
  let forwardedFor = '';
  let isForwarded = false;
  let hosts = 0;
  let lengths = 0;
  let encodings = 0;
  let authorizations = 0;
  let unknownEncoding = false;
  req.forEach((name, value) => {
    // By length first: comparing a name with eight others took 0.3 µs a request.
    switch (name.length) {
      case 3:
        if (name === 'via') isForwarded = true;
        break;
      case 4:
        if (name === 'host') hosts += 1;
        break;
      case 6:
        if (name === 'accept') accept += `,${value}`;
        break;
      case 9:
        if (name === 'forwarded' || name === 'x-real-ip') isForwarded = true;
        break;
      case 12:
        if (name === 'content-type') contentType = value;
        else if (name === 'x-webhook-id') webhookId = value;
        break;
      case 13:
        if (name === 'authorization') {
          authorization = value;
          authorizations += 1;
        } else if (name === 'last-event-id') lastEventId = value;
        else if (name === 'if-none-match') ifNoneMatch = value;
        break;
      case 14:
        if (name === 'content-length') {
          contentLength = value;
          lengths += 1;
        }
        break;
      case 15:
        if (name === 'idempotency-key') {
          idempotencyKey = idempotencyKey === undefined ? value : `${idempotencyKey}, ${value}`;
        } else if (name === 'accept-encoding') {
          acceptEncoding = value;
        } else if (name === 'x-forwarded-for') {
          forwardedFor = forwardedFor === '' ? value : `${forwardedFor},${value}`;
          isForwarded = true;
        }
        break;
      case 16:
        if (name === 'content-encoding') contentEncoding = value.toLowerCase() === 'identity' ? '' : value;
        break;
      case 17:
        if (name === 'transfer-encoding') {
          encodings += 1;
          unknownEncoding = value.toLowerCase() !== 'chunked';
        } else if (name === 'x-forwarded-proto') isForwarded = true;
        break;
      case 21:
        if (name === 'x-pagerduty-signature') signature = value;
        break;
    }
  });
  if (hosts > 1 || lengths > 1 || authorizations > 1 || encodings > 1 || unknownEncoding) return undefined;
  if (lengths === 1 && encodings === 1) return undefined;
  return {
    authorization,
    contentType,
    contentEncoding,
    acceptsGzip: acceptEncoding !== '' && ACCEPTS_GZIP.test(acceptEncoding),
    wantsJson: accept !== '' && ACCEPTS_JSON.test(accept),
    contentLength: lengths === 0 ? undefined : Number(contentLength),
    signature,
    webhookId,
    idempotencyKey,
    lastEventId,
    ifNoneMatch,
    forwardedFor,
    isForwarded,
  };
}

/** A body whose type is not said is taken for JSON; one that says it is something else is not. */
export function isJsonType(contentType: string): boolean {
  return contentType === '' || contentType === 'application/json' || JSON_TYPE.test(contentType);
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
