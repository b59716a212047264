/** Refusals: those that a route's access and body imply, and the headers that come with them. */
import { z } from 'zod';
import { METHOD_NOT_ALLOWED, NOT_FOUND } from '../../domain/rejection.ts';
import { TOO_MANY_FAILURES } from '../rate-limiter.ts';
import { ERROR_HEADERS, EXTRA_HEADERS, REASONS, STATUS_OF, type Status } from '../responses.ts';
import type { RouteLine } from '../route.ts';
import type { Operation, Parameter } from './operation.ts';

export interface Refusal {
  readonly status: Status;
  readonly title: string;
  readonly sentences: readonly string[];
  readonly headers: readonly string[];
}

const ERROR_HEADER_NAMES = ERROR_HEADERS.map(([name]) => name);

/** Headers of answers, by name. */
export const ANSWER_HEADERS: Readonly<Record<string, Parameter>> = {
  'X-Request-Id': {
    name: 'X-Request-Id',
    description: 'Names the request; the log of the server names it too.',
    schema: z.string().min(1).max(64),
    example: 'q3YtN0bXr7LkUe2W',
  },
  'Cache-Control': {
    name: 'Cache-Control',
    description: 'Answers are of the moment, and may hold secrets.',
    schema: z.literal('no-store'),
    example: 'no-store',
  },
  'X-Content-Type-Options': {
    name: 'X-Content-Type-Options',
    description: 'An error is a sentence, and never a page.',
    schema: z.literal('nosniff'),
    example: 'nosniff',
  },
  'Referrer-Policy': {
    name: 'Referrer-Policy',
    description: 'The path of a webhook is a secret.',
    schema: z.literal('no-referrer'),
    example: 'no-referrer',
  },
  'Retry-After': {
    name: 'Retry-After',
    description: 'Seconds to wait before another attempt.',
    schema: z.int().min(1),
    example: 1,
  },
  'RateLimit-Policy': {
    name: 'RateLimit-Policy',
    description:
      'Where requests are limited: q of them in w seconds, of the key and of the tenant (draft-ietf-httpapi-ratelimit-headers-10).',
    schema: z.string(),
    example: '"key";q=1000;w=10, "tenant";q=20000;w=10',
    isOptional: true,
  },
  RateLimit: {
    name: 'RateLimit',
    description: 'Where requests are limited: r of them are left, all of them again in t seconds.',
    schema: z.string(),
    example: '"key";r=997;t=1, "tenant";r=19988;t=1',
    isOptional: true,
  },
  'WWW-Authenticate': {
    name: 'WWW-Authenticate',
    description: 'How to authenticate.',
    schema: z.literal('Bearer'),
    example: 'Bearer',
  },
  'Accept-Encoding': {
    name: 'Accept-Encoding',
    description: 'Where the body was compressed: send it as it is.',
    schema: z.literal('identity'),
    example: 'identity',
    isOptional: true,
  },
  Allow: {
    name: 'Allow',
    description: 'The methods that the path has.',
    schema: z.string(),
    example: 'GET, HEAD, OPTIONS',
  },
};

export const NO_SUCH_PATH: Refusal = {
  status: 404,
  title: REASONS[404],
  sentences: [NOT_FOUND.detail],
  headers: ERROR_HEADER_NAMES,
};

export const NO_SUCH_METHOD: Refusal = {
  status: 405,
  title: REASONS[405],
  sentences: [METHOD_NOT_ALLOWED.detail],
  headers: [...ERROR_HEADER_NAMES, 'Allow'],
};

const UNAVAILABLE = 'too many commands wait for the disk; try again';

/** Every refusal that a route knows, by status. */
export function refusalsOf(route: RouteLine, { refusals = {} }: Operation): readonly Refusal[] {
  const sentences = new Map<Status, string[]>(
    impliedBy(route).map(([status, sentence]) => [status, [sentence]]),
  );
  for (const [text, sentence] of Object.entries(refusals)) {
    const status = statusOf(text);
    // What a route says itself is nearer than what its kind implies.
    sentences.set(status, [sentence, ...(sentences.get(status) ?? [])]);
  }
  return [...sentences].map(([status, all]) => ({
    status,
    title: REASONS[status],
    sentences: [...new Set(all)],
    headers: [...ERROR_HEADER_NAMES, ...limitHeadersOf(route), ...headersOf(status)],
  }));
}

type Implied = readonly [status: Status, sentence: string];

function impliedBy({ path, access, body }: RouteLine): readonly Implied[] {
  if (access === 'public') return [];
  const implied: Implied[] = [
    [500, 'the server failed on this request'],
    [503, UNAVAILABLE],
  ];
  if (access === 'webhook-token') implied.push([429, TOO_MANY_FAILURES.detail]);
  else {
    implied.push([401, 'the API key is not valid'], [429, 'too many requests with this API key; try again']);
  }
  if (access === 'ingest') implied.push([403, 'an ingest key is required']);
  if (access === 'read-only') implied.push([403, 'a read-only key is required']);
  if (path.includes('/:')) implied.push([404, 'not found']);
  if (body === 'none') return implied;
  return [
    ...implied,
    [400, 'the body is not valid JSON'],
    [413, 'the body is larger than 65536 bytes'],
    [415, 'the body must be JSON (Content-Type: application/json)'],
  ];
}

function statusOf(text: string): Status {
  const status = Object.values(STATUS_OF).find((each) => String(each) === text);
  if (status === undefined) throw new Error(`no refusal has status ${text}`);
  return status;
}

/** Headers that any answer of a route may have. */
export function limitHeadersOf({ access }: RouteLine): readonly string[] {
  return access === 'public' || access === 'webhook-token' ? [] : ['RateLimit-Policy', 'RateLimit'];
}

function headersOf(status: Status): readonly string[] {
  // How long differs from refusal to refusal.
  if (status === 429) return ['Retry-After'];
  if (status === 415) return ['Accept-Encoding'];
  const names = Object.entries(EXTRA_HEADERS).flatMap(([kind, headers]) =>
    Object.entries(STATUS_OF).some((entry) => entry[0] === kind && entry[1] === status)
      ? headers.map(([name]) => name)
      : [],
  );
  return [...new Set(names)];
}
