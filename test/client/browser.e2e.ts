/** The client in a browser: bundled as a page would have it, in headless Chromium, against a real server. */
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { build } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ForeshockClient } from '../../src/client/index.ts';
import { launch, NO_BROWSER } from '../dashboard/browser.ts';
import { TestServer } from '../support/http.ts';

const CLIENT = resolve(import.meta.dirname, '../../src/client/index.ts');
/** A page pays for what it loads. */
const MAX_GZIPPED_BYTES = 9000;

if (NO_BROWSER !== undefined) process.stderr.write(`the client is not tested in a browser: ${NO_BROWSER}\n`);

async function bundled() {
  const { output } = await build({
    input: CLIENT,
    platform: 'browser',
    write: false,
    output: { format: 'esm', minify: true },
  });
  return output[0];
}

it('is a bundle of itself and of the parser of streams, and small', async () => {
  const { code, imports, moduleIds } = await bundled();
  expect(imports).toEqual([]);
  const others = moduleIds.filter((id) => !id.includes('/src/client/'));
  expect(others.filter((id) => !id.includes('/eventsource-parser/'))).toEqual([]);
  expect(gzipSync(code).length).toBeLessThan(MAX_GZIPPED_BYTES);
});

/** What the page makes of the bundle. */
declare const foreshock: { readonly ForeshockClient: typeof ForeshockClient };

describe.skipIf(NO_BROWSER !== undefined)('in a browser, the client', () => {
  let browser: Browser;
  let server: TestServer;
  let page: Page;

  beforeAll(async () => {
    browser = await launch();
    server = await TestServer.start();
    const { url } = server.process;
    page = await browser.newPage();
    const { code } = await bundled();
    const script = "import * as foreshock from '/client.js'; globalThis.foreshock = foreshock;";
    const html = `<!doctype html><title>a page of ours</title><script type="module">${script}</script>`;
    await page.route(`${url}/page`, (route) => route.fulfill({ contentType: 'text/html', body: html }));
    await page.route(`${url}/client.js`, (route) =>
      route.fulfill({ contentType: 'text/javascript', body: code }),
    );
    await page.goto(`${url}/page`);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  it('sends batches, reads lists without pages, and hears of what changes', async () => {
    const { ingest, readOnly } = server.tenant;
    const seen = await page.evaluate(
      async ([baseUrl = '', ingestKey = '', readOnlyKey = '']) => {
        const { ForeshockClient: Client } = foreshock;
        const agent = new Client({ baseUrl, apiKey: ingestKey });
        const reader = new Client({ baseUrl, apiKey: readOnlyKey });
        const { id } = await agent.registerAgent({ hostname: 'a browser' });
        const stop = new AbortController();
        const heard: string[] = [];
        const hearing = (async () => {
          for await (const message of reader.stream({ lastEventId: '1', signal: stop.signal })) {
            if (message.type === 'event') heard.push(message.data.entity);
            if (heard.length === 150) return;
          }
        })();
        const batcher = agent.batcher({ maxEvents: 40 });
        for (let index = 0; index < 150; index++) {
          await batcher.add({
            service_name: 'seen-in-a-browser',
            vendor: 'v',
            entity: `e${index}`,
            event_type: 'deploy',
            confidence: 1,
            ttl_seconds: 60,
          });
        }
        await batcher.close();
        await hearing;
        const read: string[] = [];
        for await (const { entity } of reader.agentEvents(id)) read.push(entity);
        const refused = await agent.listAgents().catch((error: Error) => error.message);
        const aborted = reader.stream({ signal: stop.signal }).next();
        stop.abort(new Error('enough'));
        const reason = await aborted.then(
          () => '',
          (error: Error) => error.message,
        );
        return { heard, read, refused, reason };
      },
      [server.process.url, ingest, readOnly],
    );
    const sent = Array.from({ length: 150 }, (_, index) => `e${index}`);
    expect(seen).toEqual({
      heard: sent,
      read: [...sent].reverse(),
      refused: expect.stringMatching(/^GET \/v1\/agents: 403 /),
      reason: 'enough',
    });
  });
});
