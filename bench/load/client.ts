/** The asking side of client-process.ts. */
import { type ChildProcess, fork } from 'node:child_process';
import { resolve } from 'node:path';
import type { Latencies, RateOptions } from './constant-rate.ts';
import type { FloodOptions, FloodResult } from './flood.ts';
import type { Traffic } from './traffic.ts';

export type Job =
  | { readonly type: 'flood'; readonly options: FloodOptions; readonly traffic: Traffic }
  | { readonly type: 'rate'; readonly options: RateOptions; readonly traffic: Traffic }
  | { readonly type: 'register'; readonly options: FloodOptions; readonly keys: readonly string[] };

export type JobAnswer =
  | { readonly type: 'done'; readonly result: FloodResult | Latencies }
  | { readonly type: 'failed'; readonly message: string };

const CONNECTIONS = 16;
const DEPTH = 32;
const FLOOD_DEADLINE_SECONDS = 120;

/** Amounts of work that must be done, however long it takes. */
const all = (port: number, requests: number): FloodOptions => ({
  port,
  connections: CONNECTIONS,
  depth: DEPTH,
  requests,
  seconds: FLOOD_DEADLINE_SECONDS,
  refused: 'fails',
});

export class LoadClient {
  readonly #child: ChildProcess = fork(resolve(import.meta.dirname, 'client-process.ts'));

  /** Sends a number of requests, as fast as they are taken. */
  async send(port: number, requests: number, traffic: Traffic): Promise<void> {
    const options = { ...all(port, requests), refused: 'replaced' } as const;
    const result = await this.#ask<FloodResult>({ type: 'flood', options, traffic });
    if (result.requests < requests)
      throw new Error(`only ${result.requests} of ${requests} requests were taken`);
  }

  /** Makes an agent of each key. */
  async register(port: number, keys: readonly string[]): Promise<void> {
    await this.#ask<FloodResult>({ type: 'register', options: all(port, keys.length), keys });
  }

  /** As many as the server takes in this time. */
  flood(port: number, seconds: number, traffic: Traffic): Promise<FloodResult> {
    const most = Number.MAX_SAFE_INTEGER;
    const options = { ...all(port, most), seconds };
    return this.#ask({ type: 'flood', options, traffic });
  }

  constantRate(options: RateOptions, traffic: Traffic): Promise<Latencies> {
    return this.#ask({ type: 'rate', options, traffic });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = new Promise((done) => this.#child.once('exit', done));
    this.#child.kill('SIGTERM');
    await exited;
  }

  #ask<Result extends FloodResult | Latencies>(job: Job): Promise<Result> {
    return new Promise((done, reject) => {
      const ended = () => reject(new Error('the load client ended'));
      this.#child.once('exit', ended);
      this.#child.once('message', (answer: JobAnswer) => {
        this.#child.off('exit', ended);
        if (answer.type === 'done') done(answer.result as Result);
        else reject(new Error(answer.message));
      });
      this.#child.send(job);
    });
  }
}
