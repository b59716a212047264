/**
 * A wall clock that jumps under a real server (libfaketime), while it runs and across a restart. Time, as callers
 * see it, never runs back, nothing expires too early, and what expires goes on expiring.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { StopStack } from '../../src/lib/stop-stack.ts';
import type { AgentEntry, ServiceBody, WindowBody } from '../http/bodies.ts';
import { bodyOf } from '../support/http.ts';
import { FAKETIME_LIBRARY, missing } from '../support/machine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';
import { eventually, type Launch, Site } from '../support/site.ts';

const skipped = missing('faketime');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** What a test takes at most between two readings of the clock. */
const SLACK_MS = 20_000;

const made = new StopStack();
afterEach(() => made.run());

/** A server whose wall clock is set through a file; the monotonic one is the machine's. */
function siteWithClock(durability: string) {
  const directory = temporaryDirectory();
  made.push(() => removeDirectory(directory));
  const file = join(directory, 'clock');
  const setClock = (offset: string) => writeFileSync(file, `${offset}\n`);
  setClock('+0');
  const site = new Site(made, join(directory, 'data'), '--durability', durability, '--retention', '72h');
  const launch: Launch = {
    environment: {
      LD_PRELOAD: FAKETIME_LIBRARY,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    },
  };
  return { site, setClock, start: () => site.start(launch) };
}

async function agent(site: Site): Promise<AgentEntry> {
  const [entry] = bodyOf<readonly AgentEntry[]>(await site.get('/v1/agents'));
  if (entry === undefined) throw new Error('no agent');
  return entry;
}

/** Entities in the window of the only service, as a reader sees them now. */
async function live(site: Site): Promise<readonly string[]> {
  const [service] = bodyOf<readonly ServiceBody[]>(await site.get('/v1/services'));
  const window = bodyOf<WindowBody>(await site.get(`/v1/services/${service?.id}/context`));
  return window.deploy_events.map(({ entity }) => entity).sort();
}

async function newestMs(site: Site): Promise<number> {
  const [newest] = await site.eventLog();
  return Date.parse(newest?.received_at ?? '');
}

async function accepted(site: Site, name: string, ttlSeconds = 3600): Promise<void> {
  expect((await site.send(name, { ttl_seconds: ttlSeconds })).outcome).toBe('acknowledged');
}

describe.skipIf(skipped).each(['write', 'fsync'])('in %s mode', (durability) => {
  it('an hour back: order stays, and what expires goes on expiring', async () => {
    const { site, setClock, start } = siteWithClock(durability);
    await start();
    const beforeMs = Date.now();
    await accepted(site, 'a');
    await accepted(site, 'brief', 2);
    expect(await live(site)).toEqual(['a-1', 'brief-1']);

    setClock('-1h');
    await accepted(site, 'b');
    expect(await newestMs(site)).toBeGreaterThanOrEqual(beforeMs);
    expect(await newestMs(site)).toBeLessThan(beforeMs + SLACK_MS);
    await eventually('what is brief has expired', 6000, async () => !(await live(site)).includes('brief-1'));
    expect(await live(site)).toEqual(['a-1', 'b-1']);
    expect(await agent(site)).toMatchObject({ events_last_hour: 3, status: 'live' });
    await site.compare();

    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const lastMs = await newestMs(site);
      await site.server.signal(signal);
      await start();
      await site.compare();
      // Time goes on from the last record: what expired while none was written may be seen once more.
      await eventually(
        'what is brief has expired',
        6000,
        async () => !(await live(site)).includes('brief-1'),
      );
      expect(await live(site)).toContain('b-1');
      await accepted(site, 'c');
      expect(await newestMs(site)).toBeGreaterThanOrEqual(lastMs);
    }
    expect(await agent(site)).toMatchObject({ events_last_hour: 5, status: 'live' });

    setClock('+0');
    await accepted(site, 'd');
    expect(await live(site)).toEqual(['a-1', 'b-1', 'c-1', 'c-2', 'd-1']);
    expect(await agent(site)).toMatchObject({ events_last_hour: 6, status: 'live' });
    await site.compare();
  }, 60_000);

  it('an hour back: what readers saw expire stays expired over a stop and a start', async () => {
    const { site, setClock, start } = siteWithClock(durability);
    await start();
    await accepted(site, 'a');
    await accepted(site, 'brief', 2);
    setClock('-1h');
    await eventually('what is brief has expired', 6000, async () => !(await live(site)).includes('brief-1'));
    expect((await site.server.signal('SIGTERM')).code).toBe(0);
    await start();
    expect(await live(site)).toEqual(['a-1']);
  }, 60_000);

  it('a day forward and back again: what has expired stays expired, and time goes on from there', async () => {
    const { site, setClock, start } = siteWithClock(durability);
    await start();
    await accepted(site, 'a');
    await accepted(site, 'long', (2 * DAY_MS) / 1000);
    expect(await agent(site)).toMatchObject({ events_last_hour: 2, status: 'live' });

    setClock('+1d');
    const forwardMs = Date.now() + DAY_MS;
    expect(await live(site)).toEqual(['long-1']);
    expect(await agent(site)).toMatchObject({ events_last_hour: 0, status: 'stale' });
    await accepted(site, 'b');
    expect(await newestMs(site)).toBeGreaterThanOrEqual(forwardMs);
    expect(await live(site)).toEqual(['b-1', 'long-1']);
    expect(await agent(site)).toMatchObject({ events_last_hour: 1, status: 'live' });
    await site.server.signal('SIGKILL');
    await start();
    expect(await live(site)).toEqual(['b-1', 'long-1']);
    await site.compare();

    setClock('+0');
    await accepted(site, 'c');
    expect(await newestMs(site)).toBeGreaterThanOrEqual(forwardMs);
    expect(await newestMs(site)).toBeLessThan(forwardMs + SLACK_MS);
    expect(await live(site)).toEqual(['b-1', 'c-1', 'long-1']);
    expect(await agent(site)).toMatchObject({ events_last_hour: 2, status: 'live' });

    // Across a restart the clock is a day behind the log.
    await site.server.signal('SIGKILL');
    await start();
    expect(site.server.output).toMatch(/the clock is 86\d\d\d s behind/);
    await accepted(site, 'd');
    expect(await newestMs(site)).toBeGreaterThanOrEqual(forwardMs);
    expect(await live(site)).toEqual(['b-1', 'c-1', 'd-1', 'long-1']);
    expect(await agent(site)).toMatchObject({ events_last_hour: 3, status: 'live' });
    await site.compare();
  }, 60_000);
});
