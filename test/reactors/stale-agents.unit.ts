/** An alarm is ended as it was raised, by whoever was told of it, and not raised again afterwards. */
import { afterEach, describe, expect, it } from 'vitest';
import { StopStack } from '../../src/lib/stop-stack.ts';
import type { CallResult } from '../../src/outbound/call-result.ts';
import { ALERTMANAGER, answered, Dispatching, lost } from './dispatching.ts';

const made = new StopStack();
afterEach(() => made.run());

const MINUTE_MS = 60_000;

interface SentAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
}

/** What Alertmanager was told, in order: whether the alarm was raised or ended. */
function told({ requests }: Dispatching): string[] {
  return requests.map(({ body, atMs }) => {
    const [alert]: SentAlert[] = JSON.parse(body ?? '[]');
    return Date.parse(alert?.endsAt ?? '') > atMs ? 'raised' : 'ended';
  });
}

function labels({ requests }: Dispatching): object[] {
  return requests.map(({ body }) => JSON.parse(body ?? '[]')[0].labels);
}

describe('the alarm of a stale agent', () => {
  it('is raised once and ended once, under the same labels', async () => {
    const site = await Dispatching.start(made);
    await site.integrate('alertmanager', { alertmanager_url: ALERTMANAGER });
    await site.goStale();
    await site.look(1000);
    await site.look(1000);
    await site.heartbeat();
    await site.look(1000);
    await site.look(1000);
    expect(told(site)).toEqual(['raised', 'ended']);
    expect(labels(site)[1]).toEqual(labels(site)[0]);
  });

  it('is ended under the same labels though another tenant has come meanwhile', async () => {
    const site = await Dispatching.start(made);
    await site.integrate('alertmanager', { alertmanager_url: ALERTMANAGER });
    await site.goStale();
    await site.look(1000);
    await site.engine.newTenant('another');
    await site.heartbeat();
    await site.look(1000);
    expect(labels(site)).toEqual([labels(site)[0], labels(site)[0]]);
  });

  it('is ended where it was only raised again: the integration came after the silence', async () => {
    const site = await Dispatching.start(made);
    await site.look();
    await site.goStale();
    await site.look(1000);
    await site.integrate('alertmanager', { alertmanager_url: ALERTMANAGER });
    await site.look(20 * MINUTE_MS);
    expect(told(site)).toEqual(['raised']);
    await site.heartbeat();
    await site.look(1000);
    expect(told(site).at(-1)).toBe('ended');
  });

  it('is not sent again after its end, where the first attempt failed as the agent came back', async () => {
    const site = await Dispatching.start(made);
    const id = await site.integrate('alertmanager', { alertmanager_url: ALERTMANAGER });
    let settle: (result: CallResult) => void = () => {};
    site.peer = () => new Promise((resolve) => (settle = resolve));
    await site.goStale();
    await site.look(1000);
    await site.heartbeat();
    // The end waits for what is on its way, which could come in after it.
    await site.look(1000);
    expect(told(site)).toEqual(['raised']);
    site.peer = () => answered(200);
    settle(lost);
    await site.look(1000);
    await site.look(1000);
    await site.look(MINUTE_MS);
    expect(told(site)).toEqual(['raised', 'ended']);
    expect(site.deliveries(id).map(({ state }) => state)).toEqual(['dead-lettered', 'delivered']);
  });

  it('is not raised again by the round that keeps alarms up, once the agent is back', async () => {
    const site = await Dispatching.start(made);
    await site.integrate('alertmanager', { alertmanager_url: ALERTMANAGER });
    await site.goStale();
    for (let round = 0; round < 4; round += 1) await site.look(11 * MINUTE_MS);
    const raised = told(site).length;
    expect(raised).toBeGreaterThan(3);
    await site.heartbeat();
    for (let round = 0; round < 4; round += 1) await site.look(11 * MINUTE_MS);
    expect(told(site).slice(raised)).toEqual(['ended']);
  });
});
