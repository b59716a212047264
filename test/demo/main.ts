/**
 * `npm run demo`: a server on a data directory of its own, with a simulated fleet: sixty agents that report of thirty
 * services, and three things that go wrong, with an alert for each. Ends with Ctrl-C, and leaves nothing behind.
 *
 * `npm run demo -- --screenshots` shows it to a browser instead, and keeps what that saw in test/demo/screenshots.
 */
import { parseArgs } from 'node:util';
import { AGENTS, SERVICES, STORIES } from './fleet.ts';
import { takeScreenshots } from './screenshots.ts';
import { startDemo } from './server.ts';
import { PAST_MS, past, present } from './story.ts';

const { values } = parseArgs({
  options: { port: { type: 'string' }, screenshots: { type: 'boolean', default: false } },
});
const demo = await startDemo(Number(values.port ?? (values.screenshots ? '0' : '8080')), PAST_MS);
if (values.screenshots) {
  try {
    await past(demo, STORIES);
    await takeScreenshots(demo);
  } finally {
    await demo.stop();
  }
} else {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => demo.stop().finally(() => process.exit()));
  }
  await past(demo, []);
  process.stdout.write(`
  A fleet of ${SERVICES.length} services and ${AGENTS} agents reports. In a few seconds things go wrong.

  Open      ${demo.url}/
  and enter ${demo.readOnlyKey}

  Ctrl-C ends it.
`);
  await present(demo);
}
