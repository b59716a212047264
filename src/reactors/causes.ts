/** The causes of an alert: correlation, fed with what it asks for. */
import { correlate } from '../alerting/correlation.ts';
import type { Tenant } from '../commands/state.ts';
import type { Candidate, PastEvent } from '../domain/alert.ts';
import { shortened } from '../lib/text.ts';
import { type PastEventsOptions, pastEventsOf } from './past-events.ts';

export interface CauseQuestion {
  readonly startedAtMs: number;
  readonly serviceName: string;
  readonly entities: readonly string[];
  readonly title: string;
}

/** Dependencies of dependencies are the farthest that correlation looks; each round brings one step of them. */
const MAX_ROUNDS = 4;

/** Alerts of one delivery ask about the same services at the same time: what was read for one serves the next. */
export class Causes {
  readonly #tenant: Tenant;
  readonly #options: PastEventsOptions;
  readonly #events = new Map<string, readonly PastEvent[]>();

  constructor(tenant: Tenant, options: PastEventsOptions) {
    this.#tenant = tenant;
    this.#options = options;
  }

  /** Correlation is pure and asks in the middle; so it is asked again until nothing is missing. */
  async of(question: CauseQuestion, lookbackMs: number): Promise<readonly Candidate[]> {
    const { servicesByName } = this.#tenant;
    for (let round = 0; ; round += 1) {
      const missing = new Set<string>();
      const candidates = correlate(
        question,
        {
          eventsOf: (name) => {
            const events = this.#events.get(`${question.startedAtMs} ${name}`);
            if (events === undefined) missing.add(name);
            return events ?? [];
          },
          serviceNamed: (text) => (servicesByName.has(text) ? text : undefined),
        },
        { lookbackMs },
      );
      if (missing.size === 0 || round === MAX_ROUNDS) return candidates.map(shortTexts);
      for (const name of missing) {
        const { startedAtMs } = question;
        const events = await pastEventsOf(this.#tenant, name, startedAtMs, this.#options);
        this.#events.set(`${startedAtMs} ${name}`, events);
        await this.#options.pause();
      }
    }
  }
}

/** What is kept of a text of a candidate: its event has all of it, and an alert has twenty. */
const MAX_KEPT_LENGTH = 256;

function shortTexts(candidate: Candidate): Candidate {
  const { event } = candidate;
  const cut = (text: string | null) => (text === null ? null : shortened(text, MAX_KEPT_LENGTH));
  return { ...candidate, event: { ...event, oldValue: cut(event.oldValue), newValue: cut(event.newValue) } };
}
