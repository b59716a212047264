/**
 * The reactors: what the server does of its own accord. Each watches the state and submits commands, as a caller
 * would; none changes anything itself, and none runs while the log is replayed.
 */
import type { AttemptResult } from '../domain/outbound.ts';
import type { AllowEntry } from '../outbound/allow-entry.ts';
import { call, DEFAULT_CALL_LIMITS } from '../outbound/http-call.ts';
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts';
import { Inbound, type InboundOptions } from './inbound.ts';
import { Liveness } from './liveness.ts';
import type { SendingOptions } from './sending.ts';

export interface ReactorOptions
  extends InboundOptions,
    Pick<DispatcherOptions, 'random'>,
    Pick<SendingOptions, 'pagerdutyApiUrl' | 'pagerdutyEventsUrl' | 'baseUrl'> {
  readonly outboundAllow: readonly AllowEntry[];
  readonly agentStaleAfterMs: number;
}

export interface Reactors {
  /** Attempts to deliver, by what became of them, since the process began. */
  readonly outcomes: Readonly<Record<AttemptResult['type'], number>>;
  /** Ends what is under way; what that leaves undone is taken up by the next start. */
  stop(): Promise<void>;
}

export function startReactors(options: ReactorOptions): Reactors {
  const { outboundAllow, agentStaleAfterMs: staleAfterMs } = options;
  const stopping = new AbortController();
  const sending: SendingOptions = {
    ...options,
    call: (request, maxAnswerBytes = DEFAULT_CALL_LIMITS.maxAnswerBytes) => {
      const limits = { ...DEFAULT_CALL_LIMITS, maxAnswerBytes };
      return call(request, outboundAllow, { limits, signal: stopping.signal });
    },
  };
  const inbound = new Inbound(options);
  const dispatcher = new Dispatcher({ ...options, sending });
  const liveness = new Liveness({ ...options, staleAfterMs });
  inbound.start();
  dispatcher.start();
  liveness.start();
  return {
    outcomes: dispatcher.outcomes,
    stop: async () => {
      liveness.stop();
      stopping.abort();
      await Promise.all([inbound.stop(), dispatcher.stop()]);
    },
  };
}
