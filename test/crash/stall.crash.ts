/** A disk that hangs: a frozen file system, on which every write and sync waits until it thaws. */
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { StopStack } from '../../src/lib/stop-stack.ts';
import { expectRefusal } from '../support/http.ts';
import { missing, mountExt4 } from '../support/machine.ts';
import { eventually, Site, sleep } from '../support/site.ts';

const skipped = missing('root', 'ext4', 'fsfreeze');
const FROZEN_MS = 4000;

const made = new StopStack();
afterEach(() => made.run());

describe.skipIf(skipped)('a disk that hangs', () => {
  it('in fsync mode stops no reader; writes wait, then are refused, and none is lost', async () => {
    const disk = mountExt4(made);
    const site = new Site(made, join(disk.mountPoint, 'data'), '--durability', 'fsync');
    const server = await site.start();
    const load = site.load();
    await sleep(300);
    const before = site.countOf('acknowledged');
    disk.freeze();
    const frozenAtMs = performance.now();

    let slowestReadMs = 0;
    while (performance.now() - frozenAtMs < FROZEN_MS) {
      const askedAtMs = performance.now();
      for (const path of ['/v1/services', '/v1/agents', `/v1/agents/${site.agentId}`, '/healthz']) {
        expect((await site.get(path)).status).toBe(200);
      }
      slowestReadMs = Math.max(slowestReadMs, performance.now() - askedAtMs);
      await sleep(20);
    }
    expect(slowestReadMs).toBeLessThan(1000);
    expectRefusal(await server.http.get('/readyz'), 503, /disk does not answer/);

    // Of the first 2 s nobody knows yet that the disk hangs: writes wait. After that they are refused at once.
    const late = await site.send('late');
    expect(late.outcome).toBe('refused');
    if (late.answer !== undefined) expectRefusal(late.answer, 503, /disk does not answer/);
    expect(late.answer?.headers['retry-after']).toBe('1');
    expect(late.answeredAtMs - late.sentAtMs).toBeLessThan(500);
    const waited = site.sent.filter(
      ({ outcome, sentAtMs, answeredAtMs }) =>
        outcome === 'acknowledged' && sentAtMs > frozenAtMs && answeredAtMs < frozenAtMs + FROZEN_MS,
    );
    expect(waited).toEqual([]);

    disk.thaw();
    await eventually('writes are taken', 3000, () => site.countOf('acknowledged') > before + 50);
    await load.stop();
    expect((await server.http.get('/readyz')).status).toBe(200);
    await site.compare();
    await server.signal('SIGKILL');
    await site.start();
    await site.compare();
  }, 40_000);

  it('in fsync mode for longer than the deadline of an answer: 503, and what became of it is told by reading', async () => {
    const disk = mountExt4(made);
    const site = new Site(made, join(disk.mountPoint, 'data'), '--durability', 'fsync');
    const server = await site.start();
    await site.send('before');
    disk.freeze();
    const waiting = site.send('waiting');
    const { answer, outcome } = await waiting;
    expect(outcome).toBe('open');
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(await site.eventLog()).toHaveLength(1);
    disk.thaw();
    await eventually('what waited is there', 3000, async () => (await site.eventLog()).length === 2);
    expect((await site.send('after')).outcome).toBe('acknowledged');
    await site.compare();
    await server.signal('SIGKILL');
    await site.start();
    await site.compare();
  }, 40_000);

  it('in write mode stops everybody, and goes on after the thaw with nothing lost', async () => {
    const disk = mountExt4(made);
    const site = new Site(made, join(disk.mountPoint, 'data'), '--durability', 'write');
    const server = await site.start();
    const load = site.load();
    await sleep(300);
    disk.freeze();
    const frozenAtMs = performance.now();
    await sleep(FROZEN_MS);
    const before = site.countOf('acknowledged');
    const during = site.sent.filter(
      ({ outcome, answeredAtMs }) => outcome === 'acknowledged' && answeredAtMs > frozenAtMs + 500,
    );
    expect(during).toEqual([]);
    disk.thaw();
    await eventually('writes are taken', 5000, () => site.countOf('acknowledged') > before + 50);
    await load.stop();
    expect((await site.get('/v1/services')).status).toBe(200);
    await eventually('it is ready', 3000, async () => (await server.http.get('/readyz')).status === 200);
    await site.compare();
    await server.signal('SIGKILL');
    await site.start();
    await site.compare();
  }, 40_000);
});
