/**
 * Rejections: what becomes of a request that is understood and refused. They are values, returned and never
 * thrown, and know nothing of HTTP; `http/` gives each kind its status.
 */

export const REJECTION_KINDS = [
  'bad-input',
  'unauthenticated',
  'forbidden',
  'not-found',
  'method-not-allowed',
  'too-large',
  'unsupported-media-type',
  'key-reused',
  'limit-reached',
  'rate-limited',
  'unavailable',
  'overloaded',
] as const;
export type RejectionKind = (typeof REJECTION_KINDS)[number];

export interface Rejection {
  readonly type: 'rejection';
  readonly kind: RejectionKind;
  /** One sentence for the caller. */
  readonly detail: string;
}

function rejection(kind: RejectionKind, detail: string): Rejection {
  return { type: 'rejection', kind, detail };
}

export const badInput = (detail: string): Rejection => rejection('bad-input', detail);
export const forbidden = (detail: string): Rejection => rejection('forbidden', detail);
export const unauthenticated = (detail: string): Rejection => rejection('unauthenticated', detail);
export const unavailable = (detail: string): Rejection => rejection('unavailable', detail);
/** There is more to do than can be done: some are refused, so that the others are answered in time. */
export const overloaded = (detail: string): Rejection => rejection('overloaded', detail);
/** A tenant has as many of something as the operator lets it have: trying again does not help. */
export const limitReached = (detail: string): Rejection => rejection('limit-reached', detail);
export const rateLimited = (detail: string): Rejection => rejection('rate-limited', detail);
export const tooLarge = (detail: string): Rejection => rejection('too-large', detail);

export const NOT_FOUND: Rejection = rejection('not-found', 'not found');
export const METHOD_NOT_ALLOWED: Rejection = rejection('method-not-allowed', 'method not allowed');
export const NOT_JSON: Rejection = rejection(
  'unsupported-media-type',
  'the body must be JSON (Content-Type: application/json)',
);
export const COMPRESSED: Rejection = rejection(
  'unsupported-media-type',
  'the body must be sent as it is, without a Content-Encoding',
);
export const NOT_JSON_OR_NDJSON: Rejection = rejection(
  'unsupported-media-type',
  'the body must be JSON (application/json), or an event a line (application/x-ndjson)',
);
export const KEY_REUSED: Rejection = rejection(
  'key-reused',
  'the Idempotency-Key was used with another payload',
);
export const AGENT_NOT_REGISTERED: Rejection = forbidden('agent not registered');
export const NOT_YOUR_AGENT: Rejection = forbidden('the key belongs to another agent');
