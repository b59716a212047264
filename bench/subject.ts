/** What a subject of measurement is: it starts servers, loads them, and tells what it found. */
import type { Plot } from './report/plot.ts';
import type { Row } from './report/row.ts';
import type { Rest } from './turns.ts';

export interface Findings {
  readonly rows: readonly Row[];
  /** What could not be measured, and what to install so that it can. */
  readonly skipped?: readonly string[];
  readonly plots?: readonly Plot[];
}

export type Subject = (scope: Scope) => Promise<Findings>;

interface Stoppable {
  stop(): Promise<void>;
}

/** The servers and clients of one subject: they are stopped when it is over, however it ends. */
export class Scope {
  /** Lets the other subjects go first: what is measured before and after lies minutes apart. */
  readonly rest: Rest;
  readonly #running: Stoppable[] = [];

  constructor(rest: Rest = async () => {}) {
    this.rest = rest;
  }

  add<T extends Stoppable>(started: T): T {
    this.#running.push(started);
    return started;
  }

  async close(): Promise<void> {
    for (const running of this.#running.splice(0).reverse()) await running.stop();
  }
}
