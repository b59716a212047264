/**
 * Real servers, really killed. A record outside of the server holds what was acknowledged; whatever the moment
 * of the kill, all of it must be there afterwards, once and in order, and nothing half-way.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { StopStack } from '../../src/lib/stop-stack.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';
import { Site, sleep } from '../support/site.ts';

const ROUNDS = Number(process.env['FORESHOCK_KILL_ROUNDS'] ?? 4);
/** A round reads back all that the rounds before it wrote. */
const ROUND_MS = 10_000;

const made = new StopStack();
afterEach(() => made.run());

describe.each(['write', 'fsync'])('kill -9 in %s mode', (durability) => {
  it(
    `loses, repeats and reorders nothing acknowledged, in ${ROUNDS} rounds`,
    async () => {
      const directory = temporaryDirectory();
      made.push(() => removeDirectory(directory));
      const site = new Site(made, directory, '--durability', durability, '--segment-bytes', '65536');
      await site.start();
      for (let round = 0; round < ROUNDS; round += 1) {
        const load = site.load();
        await sleep(50 + Math.floor((300 * ((round * 7919) % 97)) / 97));
        await site.server.signal('SIGKILL');
        await load.stop();
        // Nothing but death may keep the server from answering 201.
        expect(site.countOf('refused')).toBe(0);
        await site.start();
        await site.compare();
      }

      const before = await allAnswers(site);
      await site.server.signal('SIGKILL');
      await site.start();
      expect(await allAnswers(site)).toEqual(before);
      expect(await site.server.signal('SIGTERM')).toEqual({ code: 0, signal: null });
      process.stderr.write(
        `${durability}: ${site.countOf('acknowledged')} acknowledged, ${site.countOf('open')} left open, ` +
          `in ${ROUNDS} kills\n`,
      );
    },
    20_000 + ROUNDS * ROUND_MS,
  );
});

async function allAnswers(site: Site): Promise<readonly string[]> {
  const read = async (path: string) => {
    const answer = await site.get(path);
    expect(answer.status).toBe(200);
    return answer.text;
  };
  const services: { id: string }[] = JSON.parse(await read('/v1/services'));
  const paths = [
    '/v1/services',
    '/v1/agents',
    '/v1/integrations',
    ...services.map(({ id }) => `/v1/services/${id}/context`),
    `/v1/agents/${site.agentId}?per_page=100`,
    `/v1/agents/${site.agentId}?per_page=100&page=2&service=checkout-api`,
  ];
  return Promise.all(paths.map(read));
}
