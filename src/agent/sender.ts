/** How events get to the server: one request each. A batch endpoint is another `Sender`. */
import type { ForeshockClient } from '../client/client.ts';
import { ForeshockError } from '../client/error.ts';
import type { AgentEvent } from './plugin.ts';

export interface Outgoing {
  readonly event: AgentEvent;
  /** The same however often it is tried. */
  readonly idempotencyKey: string;
}

/** What the server made of an event that reached it. */
export type Verdict =
  | { readonly type: 'accepted' }
  /** It would be refused again: not for sending a second time. */
  | { readonly type: 'rejected'; readonly detail: string };

export interface Sender {
  readonly maxBatch: number;
  /** A verdict for each event, in order. Rejects where the server could not be asked, or refuses the agent itself. */
  send(batch: readonly Outgoing[], signal: AbortSignal): Promise<readonly Verdict[]>;
}

/** Bad input, too large, or a key that was used for something else: about the event, not about the agent. */
const EVENT_REFUSALS: ReadonlySet<number | null> = new Set([400, 413, 422]);

export function singleSender(client: Pick<ForeshockClient, 'sendEvent'>): Sender {
  return {
    maxBatch: 1,
    async send(batch, signal) {
      const verdicts: Verdict[] = [];
      for (const { event, idempotencyKey } of batch) {
        verdicts.push(await verdictOn(client.sendEvent(event, { idempotencyKey, signal })));
      }
      return verdicts;
    },
  };
}

async function verdictOn(sending: Promise<void>): Promise<Verdict> {
  try {
    await sending;
    return { type: 'accepted' };
  } catch (error) {
    if (!(error instanceof ForeshockError && EVENT_REFUSALS.has(error.status))) throw error;
    return { type: 'rejected', detail: error.detail };
  }
}
