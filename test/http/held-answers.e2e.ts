/**
 * Answers that wait for the end of a turn, at real connections: a listener whose turns end when the test says so, and one
 * that is as busy as it takes.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Listener, listen } from '../../src/http/listener.ts';
import { Overload } from '../../src/http/overload.ts';
import { RateLimiter } from '../../src/http/rate-limiter.ts';
import { json } from '../../src/http/responses.ts';
import type { WebhookRoute } from '../../src/http/route.ts';
import { Traffic } from '../../src/http/traffic.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { eventLoop } from '../../src/lib/scheduler.ts';
import { pause, RawConnection, rawRequest } from '../support/raw-socket.ts';

/** Answers with the body. */
const ECHO: WebhookRoute = {
  method: 'POST',
  path: '/echo',
  access: 'webhook-token',
  body: 'raw',
  admit: () => undefined,
  handle: ({ exchange, body }) => exchange.answer(json(200, body.toString())),
};
/** More than this, and the listener is busy; it stays so while a turn brings as many as the others are. */
const MANY = 80;
const OTHERS = 4;
/** Long enough for what was sent to be read. */
const READ_MS = 4;

const traffic = new Traffic(systemClock);
const connections: RawConnection[] = [];
const others: RawConnection[] = [];
let tasks: (() => void)[] = [];
let listener: Listener;

const route = traffic.route('POST', '/echo');
const request = (body: string) => rawRequest({ method: 'POST', path: '/echo', body });

async function connection(): Promise<RawConnection> {
  const made = await RawConnection.open(listener.port ?? 0);
  connections.push(made);
  return made;
}

function endTurn(): void {
  for (const task of tasks.splice(0)) task();
}

/** So many requests come in one turn that the answers to those that follow are held. */
async function makeBusy(): Promise<void> {
  const [first] = others;
  await first?.send(request('first').repeat(MANY));
  for (let n = 0; n < MANY; n += 1) await first?.answer();
  endTurn();
}

/** So many others ask that the listener stays busy. */
async function othersAsk(): Promise<void> {
  for (const each of others) await each.send(request('other'));
  await pause(READ_MS);
}

async function othersAreAnswered(): Promise<void> {
  for (const each of others) expect((await each.answer()).body).toBe('other');
}

beforeEach(async () => {
  const options = { targetMs: 0, clock: systemClock, idleMs: () => 0, connections: () => 0 };
  const noLimits = { rateLimitKey: 0, rateLimitTenant: 0, rateLimitFailedAuth: 0 };
  let id = 0;
  listener = await listen({
    host: '127.0.0.1',
    port: 0,
    socket: null,
    certificate: null,
    routes: [ECHO],
    keys: { get: () => undefined, revocations: () => 0 },
    maxBodyBytes: 1000,
    maxWebhookBodyBytes: 1000,
    scheduler: { after: eventLoop.after, soon: (task) => tasks.push(task) },
    clock: systemClock,
    traffic,
    rateLimiter: new RateLimiter(noLimits, systemClock),
    trustProxy: [],
    overload: new Overload(options),
    maxConnections: 1000,
    newRequestId: () => {
      id += 1;
      return `r-${id}`;
    },
    unavailable: () => undefined,
    onThrow: (error) => {
      throw error;
    },
  });
  for (let n = 0; n < OTHERS; n += 1) others.push(await connection());
  await makeBusy();
});

afterEach(async () => {
  for (const each of connections.splice(0)) each.destroy();
  others.length = 0;
  listener.close();
  tasks = [];
});

describe('an answer that is held', () => {
  it('is written when the turn ends, as all the others', async () => {
    const those = await Promise.all(Array.from({ length: 20 }, () => connection()));
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(those.map((each, n) => each.send(request(`body ${round} ${n}`))));
      for (const each of those) expect(await each.remainder(1)).toBe('');
      await pause(READ_MS);
      endTurn();
      for (const [n, each] of those.entries()) expect((await each.answer()).body).toBe(`body ${round} ${n}`);
    }
  });

  it('is written when the server closes', async () => {
    const one = await connection();
    await one.send(request('last'));
    await pause(READ_MS);
    expect(await one.remainder(1)).toBe('');
    listener.close();
    expect((await one.answer()).body).toBe('last');
  });

  it('is dropped where the client has gone, and the others go out', async () => {
    const before = route.aborted;
    const gone = await connection();
    await gone.send(request('gone'));
    await othersAsk();
    gone.reset();
    await pause(READ_MS);
    expect(route.aborted).toBe(before + 1);
    endTurn();
    await othersAreAnswered();
    expect(await gone.closing()).toBe('');
  });
});

describe('requests that are sent before the one before is answered', () => {
  it('are answered in order, and the connection stays, in whichever pieces they come', async () => {
    const two = request('one') + request('and two');
    const pipelining = await connection();
    for (let cut = 1; cut <= two.length; cut += 1) {
      await makeBusy();
      await pipelining.send(two.slice(0, cut));
      await othersAsk();
      endTurn();
      await pipelining.send(two.slice(cut));
      await othersAsk();
      endTurn();
      expect((await pipelining.answer()).body, `cut at ${cut}`).toBe('one');
      expect((await pipelining.answer()).body, `cut at ${cut}`).toBe('and two');
      await othersAreAnswered();
      await othersAreAnswered();
    }
  }, 20_000);
});
