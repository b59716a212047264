/** A route: one line of the table that requests are matched against, documented by and tested with. */
import type { ApiKey } from '../domain/key.ts';
import type { Rejection } from '../domain/rejection.ts';
import type { KeyAccess } from './authentication.ts';
import type { Exchange } from './exchange.ts';
import type { RequestHead } from './request.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface Call {
  readonly exchange: Exchange;
  readonly head: RequestHead;
  /** The path's parameters, in order, as they came. */
  readonly params: readonly string[];
  /** What follows the question mark, for GET alone: nothing else takes parameters there. */
  readonly query: string;
}

export interface KeyCall extends Call {
  /** Who is calling. */
  readonly key: ApiKey;
  /** The body of a route that takes JSON; undefined elsewhere. */
  readonly json: unknown;
}

/** A call whose handler reads the body itself. */
export interface BytesCall extends Call {
  /** Who is calling. */
  readonly key: ApiKey;
  /** Good only during the call. */
  readonly body: Buffer;
}

export interface RawCall extends Call {
  /** The body's bytes, good only during the call. */
  readonly body: Buffer;
}

interface RouteBase {
  readonly method: Method;
  /** Parameters are written `:name`. */
  readonly path: string;
}

/** A route for holders of an API key. */
export interface KeyRoute extends RouteBase {
  readonly access: KeyAccess;
  readonly body: 'none' | 'json';
  readonly handle: (call: KeyCall) => void;
}

/** A route for holders of an API key whose handler reads the body's bytes. */
export interface BytesRoute extends RouteBase {
  readonly access: KeyAccess;
  readonly body: 'bytes';
  readonly maxBytes: number;
  /** Why a body of this media type is not read; undefined where it is. */
  readonly refuseType: (contentType: string) => Rejection | undefined;
  readonly handle: (call: BytesCall) => void;
}

/** A route for callers known by a secret in the path: its handler lets them in or not. */
export interface WebhookRoute extends RouteBase {
  readonly access: 'webhook-token';
  readonly body: 'raw';
  /** Why the caller is not let in, asked before a byte of the body is read; undefined where it is. */
  readonly admit: (call: Call) => Rejection | undefined;
  readonly handle: (call: RawCall) => void;
}

/** A route for everybody, served even while the server starts or stops. */
export interface PublicRoute extends RouteBase {
  readonly access: 'public';
  readonly body: 'none';
  readonly handle: (call: Call) => void;
}

export type Route = KeyRoute | BytesRoute | WebhookRoute | PublicRoute;

/** What of a route its description is made from. */
export type RouteLine = Pick<Route, 'method' | 'path' | 'access' | 'body'>;

/** `/v1/agents/{id}` of `/v1/agents/:id`: how a path is written for those who read about it. */
export function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}
