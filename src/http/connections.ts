/** Counting connections, and turning away those that are too many. */
import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { unavailable } from '../domain/rejection.ts';
import { Exchange } from './exchange.ts';
import type { RequestId } from './request-id.ts';
import type { Traffic } from './traffic.ts';

export interface ConnectionOptions {
  readonly traffic: Traffic;
  readonly maxConnections: number;
  readonly newRequestId: () => RequestId;
  readonly onThrow: (error: unknown, requestId: string) => void;
}

/** Files that are not connections of callers: the log, checkpoints, calls to tools, the runtime's own. */
const RESERVED_FILES = 64;

/**
 * As many connections as are wanted and can be had. Where a process has no file left for a connection, the kernel keeps
 * offering it, the event loop spins, and the log cannot begin a segment: that must not be reached.
 */
export function connectionsWithin(wanted: number, fileLimit: number | undefined): number {
  return fileLimit === undefined ? wanted : Math.max(1, Math.min(wanted, fileLimit - RESERVED_FILES));
}

const TOO_MANY = unavailable('too many connections; try again');

declare module 'uWebSockets.js' {
  interface TemplatedApp {
    /** The typings say Number where a number comes: 1 for a connection that opens, -1 for one that closes. */
    filter(each: (res: HttpResponse, change: number) => void): TemplatedApp;
  }
}

/** A connection too many is answered before it has asked anything, and closed. */
export function limitConnections(app: TemplatedApp, options: ConnectionOptions): void {
  const { maxConnections, newRequestId, onThrow, traffic } = options;
  const { connections, other } = traffic;
  const opensOrCloses = (res: HttpResponse, change: number) => {
    connections.open += change;
    if (change !== 1) return;
    if (connections.open <= maxConnections) {
      connections.accepted += 1;
      return;
    }
    connections.refused += 1;
    const exchange = new Exchange(res, { requestId: newRequestId(), isHead: false, traffic: other, onThrow });
    exchange.closeAfter();
    res.cork(() => exchange.reject(TOO_MANY));
  };
  app.filter(opensOrCloses);
}
