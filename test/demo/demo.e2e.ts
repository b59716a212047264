import { expect, it } from 'vitest';
import { AGENTS, SERVICES, STORIES } from './fleet.ts';
import { startDemo } from './server.ts';
import { PAST_MS, past } from './story.ts';

interface AlertBody {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly candidates: readonly { readonly event: { readonly entity: string } }[];
}

it('the demonstration has a past, in which each alert has its cause, and is there within a minute', async () => {
  const sinceMs = performance.now();
  const demo = await startDemo(0, PAST_MS);
  try {
    await past(demo, STORIES);
    expect(performance.now() - sinceMs).toBeLessThan(60_000);
    const headers = { Authorization: `Bearer ${demo.readOnlyKey}` };
    const read = async <T>(path: string): Promise<T> =>
      JSON.parse(await (await fetch(`${demo.url}/v1/${path}`, { headers })).text());
    expect(await read<unknown[]>('services')).toHaveLength(SERVICES.length);
    expect(await read<unknown[]>('agents')).toHaveLength(AGENTS);
    const alerts = async () => (await read<{ readonly alerts: readonly AlertBody[] }>('alerts')).alerts;
    await expect
      .poll(async () => (await alerts()).filter(({ status }) => status === 'firing').length)
      .toBe(3);
    expect((await alerts()).filter(({ status }) => status === 'resolved')).toHaveLength(1);
    const causes: unknown[] = [];
    for (const { title, events } of STORIES) {
      const { id } = (await alerts()).find((alert) => alert.title === title) ?? { id: '' };
      const { candidates } = await read<AlertBody>(`alerts/${id}`);
      const foremost = candidates.slice(0, 3).map(({ event }) => event.entity);
      causes.push(events.some(({ entity }) => foremost.includes(entity)));
    }
    expect(causes).toEqual([true, true, true]);
  } finally {
    await demo.stop();
  }
}, 90_000);
