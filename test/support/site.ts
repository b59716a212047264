/**
 * A data directory that servers are started on and ended in every way, and beside it a record, kept outside
 * of them, of what they acknowledged. After any end the two are compared.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { expect } from 'vitest';
import type { StopStack } from '../../src/lib/stop-stack.ts';
import type { StoredEvent } from '../http/bodies.ts';
import { type Answer, bodyOf, eventBody, HttpClient } from './http.ts';

const MAIN = resolve(import.meta.dirname, '../../src/main.ts');
const START_DEADLINE_MS = 15_000;
const PAGE = 100;

/** Answers that leave open whether the event was taken. */
const TOO_SLOW = /could not answer in time/;

export interface SentEvent {
  readonly entity: string;
  readonly sentAtMs: number;
  /** `open`: nobody said what became of it. Only that may be there or not. */
  outcome: 'acknowledged' | 'refused' | 'open';
  answeredAtMs: number;
  answer: Answer | undefined;
}

export interface Launch {
  /** A command that the server is run under, with its arguments. */
  readonly under?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A server from its very start, before it listens, to its end. */
export class Launched {
  readonly #child: ChildProcess;
  readonly exited: Promise<Exit>;
  #exit: Exit | undefined;
  #output = '';
  #http: HttpClient | undefined;

  constructor(dataDirectory: string, { under = [], environment = {}, flags = [] }: Launch) {
    const command = [...under, process.execPath, MAIN, 'serve', '--port', '0', '--data-dir', dataDirectory];
    const [program = '', ...args] = [...command, '--base-url', 'http://foreshock.test', ...flags];
    const env = { ...process.env, ...environment };
    this.#child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
    this.exited = new Promise((done) => {
      this.#child.once('close', (code, signal) => {
        this.#exit = { code, signal };
        this.#http?.close();
        done(this.#exit);
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get output(): string {
    return this.#output;
  }

  get running(): boolean {
    return this.#exit === undefined;
  }

  get http(): HttpClient {
    if (this.#http === undefined) throw new Error('the server does not listen yet');
    return this.#http;
  }

  get keys(): { readonly ingest: string; readonly readOnly: string } | undefined {
    const ingest = /ingest key\s+(\S+)/.exec(this.#output)?.[1];
    const readOnly = /read-only key\s+(\S+)\n/.exec(this.#output)?.[1];
    return ingest === undefined || readOnly === undefined ? undefined : { ingest, readOnly };
  }

  /** Waits until it has replayed its log and serves. @throws where it ends before */
  async serving(): Promise<this> {
    // Half a welcome must not be read for the whole.
    const welcome = /Foreshock listens on http:\/\/\S+:(\d+)\n[\s\S]*webhook URLs start with .*\n/;
    await eventually('the server serves', START_DEADLINE_MS, () => {
      if (!this.running) throw new Error(`the server ended before it served:\n${this.#output}`);
      const port = welcome.exec(this.#output)?.[1];
      if (port === undefined || (this.#output.includes('is new') && !this.#output.includes('/context'))) {
        return false;
      }
      this.#http ??= new HttpClient(Number(port));
      return true;
    });
    return this;
  }

  signal(name: NodeJS.Signals): Promise<Exit> {
    this.#child.kill(name);
    return this.exited;
  }
}

export class Site {
  readonly dataDirectory: string;
  readonly #flags: readonly string[];
  readonly #made: StopStack;
  /** In the order in which they were sent. */
  readonly sent: SentEvent[] = [];
  readonly #numbers = new Map<string, number>();
  #server: Launched | undefined;
  #keys = { ingest: '', readOnly: '' };
  #agentId = '';

  /** Servers still running when `made` is stopped are killed. */
  constructor(made: StopStack, dataDirectory: string, ...flags: readonly string[]) {
    this.dataDirectory = dataDirectory;
    this.#flags = flags;
    this.#made = made;
  }

  get server(): Launched {
    if (this.#server === undefined) throw new Error('no server has been started');
    return this.#server;
  }

  /** False where the server of the first start died before it had shown them. */
  get hasKeys(): boolean {
    return this.#keys.ingest !== '';
  }

  get keys(): { readonly ingest: string; readonly readOnly: string } {
    return this.#keys;
  }

  get agentId(): string {
    return this.#agentId;
  }

  /** Starts a server, without waiting for it. */
  launch(options: Launch = {}): Launched {
    const flags = [...this.#flags, ...(options.flags ?? [])];
    const server = new Launched(this.dataDirectory, { ...options, flags });
    this.#server = server;
    this.#made.push(async () => {
      if (server.running) await server.signal('SIGKILL');
    });
    return server;
  }

  /** Starts a server and waits until it serves; the first time its keys are kept and an agent is registered. */
  async start(options: Launch = {}): Promise<Launched> {
    const server = await this.launch(options).serving();
    await this.adopt(server);
    return server;
  }

  /** Keeps the keys of a first start, and registers an agent where there is none. */
  async adopt(server: Launched): Promise<void> {
    this.#keys = server.keys ?? this.#keys;
    if (this.#agentId !== '') return;
    const answer = await server.http.post('/v1/agents/register', this.#keys.ingest, { hostname: 'db-1' });
    this.#agentId = bodyOf<{ id: string }>(answer, 201).id;
  }

  get(path: string): Promise<Answer> {
    return this.server.http.get(path, this.#keys.readOnly);
  }

  /** Sends one event and notes what became of it; `name` and a running number make its entity. */
  async send(name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<SentEvent> {
    const number = (this.#numbers.get(name) ?? 0) + 1;
    this.#numbers.set(name, number);
    const event: SentEvent = {
      entity: `${name}-${number}`,
      sentAtMs: performance.now(),
      outcome: 'open',
      answeredAtMs: Number.POSITIVE_INFINITY,
      answer: undefined,
    };
    this.sent.push(event);
    const body = eventBody({ ...fields, entity: event.entity });
    const answer = await this.server.http.post('/v1/events', this.#keys.ingest, body).catch(() => undefined);
    event.answeredAtMs = performance.now();
    event.answer = answer;
    if (answer?.status === 201) event.outcome = 'acknowledged';
    else if (answer !== undefined && !TOO_SLOW.test(answer.text)) event.outcome = 'refused';
    return event;
  }

  /** Writers that send one event after the other, until they are stopped or the server is gone. */
  load(writers = 8, fields: Readonly<Record<string, unknown>> = {}): Load {
    const server = this.server;
    let stopped = false;
    const writing = Array.from({ length: writers }, async (_, n) => {
      while (!stopped && server.running) {
        const { answer } = await this.send(`w${n}`, fields);
        if (answer === undefined) return;
        // A refusal costs nothing: without a pause there would be little else.
        if (answer.status === 503) await sleep(20);
      }
    });
    return {
      stop: async () => {
        stopped = true;
        await Promise.all(writing);
      },
    };
  }

  /** The agent's event log, newest first. */
  async eventLog(): Promise<readonly StoredEvent[]> {
    const page = async (number: number) => {
      const answer = await this.get(`/v1/agents/${this.#agentId}?per_page=${PAGE}&page=${number}`);
      return bodyOf<{ events: readonly StoredEvent[]; total_pages: number }>(answer);
    };
    const first = await page(1);
    const rest: (readonly StoredEvent[])[] = [];
    for (let number = 2; number <= first.total_pages; number += 1) rest.push((await page(number)).events);
    return [first.events, ...rest].flat();
  }

  /**
   * What the server says is what the record says: all that was acknowledged, nothing that was refused, each
   * once and in order. Where the power was cut, what was acknowledged within a window before it may be gone,
   * but then so is everything that was sent after that.
   *
   * @returns how much was lost, and how long before the cut the oldest of it was acknowledged
   */
  async compare(cut?: Cut): Promise<Loss> {
    return compare(this.sent, await this.eventLog(), cut);
  }

  /** Takes what is there now for what is to be there from now on: after a power cut. */
  async settle(): Promise<void> {
    const there = new Set((await this.eventLog()).map(({ entity }) => entity));
    for (const event of this.sent) event.outcome = there.has(event.entity) ? 'acknowledged' : 'refused';
  }

  countOf(outcome: SentEvent['outcome']): number {
    return this.sent.filter((event) => event.outcome === outcome).length;
  }
}

export interface Load {
  /** Resolves once every writer has its last answer, or knows that none will come. */
  stop(): Promise<void>;
}

export interface Cut {
  /** When it began: it takes a few milliseconds, in which answers still come. */
  readonly beganAtMs: number;
  readonly windowMs: number;
}

export interface Loss {
  /** Acknowledged before the cut began, and gone. */
  readonly events: number;
  readonly oldestMs: number;
  /**
   * Acknowledged while the cut was under way or after it, and gone. A sync that races with the ioctl may come
   * back without an error though the journal was never written, which no real power cut can bring about.
   */
  readonly meanwhile: number;
}

function compare(sent: readonly SentEvent[], stored: readonly StoredEvent[], cut: Cut | undefined): Loss {
  const entities = stored.map(({ entity }) => entity);
  const there = new Set(entities);
  expect(entities).toHaveLength(there.size);
  expect(outOfOrder(stored)).toEqual([]);

  const known = new Set(sent.map(({ entity }) => entity));
  expect(entities.filter((entity) => !known.has(entity))).toEqual([]);
  expect(entitiesOf(sent, ({ outcome, entity }) => outcome === 'refused' && there.has(entity))).toEqual([]);

  const lost = sent.filter(({ outcome, entity }) => outcome === 'acknowledged' && !there.has(entity));
  if (cut === undefined) {
    expect(entitiesOf(lost)).toEqual([]);
    return { events: 0, oldestMs: 0, meanwhile: 0 };
  }
  const { beganAtMs, windowMs } = cut;
  const before = lost.filter(({ answeredAtMs }) => answeredAtMs <= beganAtMs);
  const oldestMs = before.reduce((age, { answeredAtMs }) => Math.max(age, beganAtMs - answeredAtMs), 0);
  expect(oldestMs).toBeLessThanOrEqual(windowMs);
  // No holes: what was sent only after one of them had been answered stood behind it in the log.
  const firstLostMs = lost.reduce(
    (first, { answeredAtMs }) => Math.min(first, answeredAtMs),
    Number.POSITIVE_INFINITY,
  );
  expect(entitiesOf(sent, ({ entity, sentAtMs }) => there.has(entity) && sentAtMs > firstLostMs)).toEqual([]);
  return { events: before.length, oldestMs, meanwhile: lost.length - before.length };
}

function entitiesOf(
  events: readonly SentEvent[],
  which: (event: SentEvent) => boolean = () => true,
): string[] {
  return events.filter(which).map(({ entity }) => entity);
}

/** Newest first: time never runs back, and what one writer sent one after the other is in that order. */
function outOfOrder(stored: readonly StoredEvent[]): string[] {
  const wrong: string[] = [];
  const latest = new Map<string, number>();
  let before: string | undefined;
  for (const { entity, received_at } of stored) {
    const [writer = '', number] = entity.split('-');
    if (before !== undefined && received_at > before) wrong.push(entity);
    if (Number(number) >= (latest.get(writer) ?? Number.POSITIVE_INFINITY)) wrong.push(entity);
    latest.set(writer, Number(number));
    before = received_at;
  }
  return wrong;
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

/** Asks again until it holds. @throws a sentence, after the deadline */
export async function eventually(
  what: string,
  deadlineMs: number,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await sleep(10);
  }
}
