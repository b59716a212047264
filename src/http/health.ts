import { type Rejection, unavailable } from '../domain/rejection.ts';
import { json } from './responses.ts';
import type { Call } from './route.ts';

const ALIVE = json(200, '{"status":"alive"}');
const READY = json(200, '{"status":"ready"}');

/** GET /healthz: the process answers, whatever else it can do. */
export function showHealth({ exchange }: Call): void {
  exchange.answer(ALIVE);
}

export interface Readiness {
  /** Why requests are not taken just now, or undefined where they are. */
  readonly unavailable: Rejection | undefined;
  /** Why writes are not taken just now, or undefined where they are. */
  readonly trouble: string | undefined;
}

/** GET /readyz: 503 with the reason while starting, stopping, or unable to write. */
export function showReadiness({ unavailable: closed, trouble }: Readiness, { exchange }: Call): void {
  if (closed !== undefined) exchange.reject(closed);
  else if (trouble !== undefined) exchange.reject(unavailable(trouble));
  else exchange.answer(READY);
}
