/** The page in a real browser, on a real server. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createIntegration, raiseAlert, register, sendEvent } from '../http/operations.ts';
import { eventBody, type Tenant, TestServer } from '../support/http.ts';
import { type ServerProcess, startServer } from '../support/server.ts';
import { enter, launch, NO_BROWSER, type Opened, openPage } from './browser.ts';

const HOSTILE = '<img src=x onerror="document.title=\'owned\'"><script>alert(1)</script>\u202Egnp.exe';

if (NO_BROWSER !== undefined) process.stderr.write(`the dashboard is not tested: ${NO_BROWSER}\n`);

describe.skipIf(NO_BROWSER !== undefined)('the dashboard', () => {
  let browser: Browser;
  let server: TestServer;
  let tenant: Tenant;
  const opened: Opened[] = [];

  beforeAll(async () => {
    browser = await launch();
    server = await TestServer.start();
    tenant = server.tenant;
    await register(server, tenant.ingest);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });
  afterEach(async () => {
    for (const { page, complaints } of opened.splice(0)) {
      await page.close();
      expect(complaints).toEqual([]);
    }
  });

  async function open(options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
    const made = await openPage(browser, options);
    made.page.setDefaultTimeout(10_000);
    opened.push(made);
    return made.page;
  }

  async function visit(address = '', options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
    const page = await open(options);
    await enter(page, `${server.process.url}/${address}`, tenant.readOnly);
    await page.getByText('Live', { exact: true }).waitFor();
    return page;
  }

  const newTenant = async (name: string) => {
    const made = await server.newTenant(name);
    await register(server, made.ingest);
    return made;
  };

  it('a key that no header could hold is not taken', async () => {
    const page = await open();
    await enter(page, server.process.url, 'schlüssel');
    expect(await page.getByLabel('Read-only key').evaluate((input) => input.matches(':invalid'))).toBe(true);
    await page.getByRole('heading', { name: 'What changed?' }).waitFor();
  });

  it('an event that was posted is seen within a second: its service, and its bar', async () => {
    const page = await visit();
    const sinceMs = performance.now();
    await sendEvent(server, tenant.ingest, { service_name: 'seen-api', entity: 'at-once' });
    const row = page.getByRole('link', { name: /seen-api.*deploy/ });
    await row.waitFor();
    expect(performance.now() - sinceMs).toBeLessThan(1000);
    await row.click();
    await page.locator('.bars rect.deploy').waitFor();
    const beforeMs = performance.now();
    await sendEvent(server, tenant.ingest, {
      service_name: 'seen-api',
      event_type: 'restart',
      entity: 'pod-1',
    });
    await page.locator('.bars rect.restart').waitFor();
    expect(performance.now() - beforeMs).toBeLessThan(1000);
    await page.locator('.bars rect.restart').hover();
    await page.locator('.details').getByText('pod-1').waitFor();
  });

  it('an alert puts its service first, and leads to what changed before, which others can be sent', async () => {
    for (const service_name of ['calm-api', 'burning-api', 'other-api']) {
      await sendEvent(server, tenant.ingest, {
        service_name,
        entity: `${service_name}-deployment`,
        new_value: 'v42',
      });
    }
    const integration = await createIntegration(server, tenant.readOnly);
    const page = await visit();
    await raiseAlert(server, tenant, integration, 'PBURN', {
      service: { summary: 'burning-api' },
      title: 'on fire',
    });
    await page.locator('.services li.firing .name').getByText('burning-api').waitFor();
    await page.locator('.services li.firing').getByText('Likely: deploy').waitFor();
    await expect.poll(() => page.locator('.services li .name').first().textContent()).toBe('burning-api');
    await page.getByRole('link', { name: /burning-api/ }).click();
    // It is what one has come for: nobody has to ask for it.
    await page.getByRole('button', { name: /^on fire/, pressed: true }).waitFor();
    await page.locator('.bars rect.candidate').waitFor();
    expect(await page.locator('.ranks').textContent()).toBe('1');
    const candidate = page
      .getByRole('list', { name: /Candidates/ })
      .getByRole('listitem')
      .first();
    await expect.poll(() => candidate.textContent()).toMatch(/burning-api-deployment.*v42.*same service/);
    const address = page.url();
    expect(address).not.toContain(tenant.readOnly);
    const colleague = await open();
    await enter(colleague, address, tenant.readOnly);
    await colleague.getByText('What changed before').waitFor();
    await colleague.locator('.bars rect.candidate').waitFor();
  });

  it('a key that is wrong, or of the wrong kind, is said to be', async () => {
    const page = await open();
    await enter(page, server.process.url, 'fsk_ro_nonsense');
    await page.getByText('the API key is not valid').waitFor();
    await page.getByLabel('Read-only key').fill(tenant.ingest);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('That is an ingest key').waitFor();
  });

  it('a key that is revoked asks for another', async () => {
    const [row] = await server.newKeys(tenant.name, 'read-only');
    if (row === undefined) throw new Error('no key');
    const page = await open();
    await enter(page, server.process.url, row.key);
    await page.getByText('Live', { exact: true }).waitFor();
    await server.revoke(row);
    await page.getByLabel('Read-only key').waitFor();
    await page.getByText('not valid any more').waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  it('what agents and tools send is shown as text in every view, whatever is in it', async () => {
    const other = await server.newTenant('hostile');
    await register(server, other.ingest, { hostname: HOSTILE, name: HOSTILE, version: HOSTILE });
    await sendEvent(server, other.ingest, {
      ...{ service_name: HOSTILE, entity: HOSTILE, vendor: HOSTILE, actor: HOSTILE, sha: HOSTILE },
      ...{ old_value: HOSTILE, new_value: '\uFFFD<b>bold</b>' },
    });
    const integration = await createIntegration(server, other.readOnly);
    await raiseAlert(server, other, integration, 'PHOSTILE', {
      title: HOSTILE,
      html_url: 'javascript:document.title="owned"',
      service: { summary: HOSTILE },
    });
    const page = await open();
    await enter(page, server.process.url, other.readOnly);
    const link = page.locator('.services li a');
    await link.waitFor();
    expect(await page.locator('.services .name').textContent()).toBe(HOSTILE);
    await link.click();
    await page.locator('.events li').waitFor();
    await expect.poll(() => page.locator('.events li').textContent()).toContain('\uFFFD<b>bold</b>');
    await expect.poll(() => page.locator('.bars text').textContent()).toContain('<b>bold</b>');
    await page.locator('.candidates li').waitFor();
    await expectHarmless(page);
    await page.locator('.bars rect').hover();
    await page.locator('.details dd').first().waitFor();
    await expectHarmless(page);
    for (const section of ['agents', 'alerts']) {
      await page.goto(`${server.process.url}/#/${section}`);
      await page.locator(`.${section} .name`).waitFor();
      expect(await page.locator(`.${section} .name`).textContent()).toBe(HOSTILE);
      await expectHarmless(page);
      await page.locator(`.${section} li a`).click();
      await expect.poll(() => page.locator('h1').textContent()).toBe(HOSTILE);
      await page.locator('.told, .candidates').first().waitFor();
      await expectHarmless(page);
    }
  });

  /** No element of it has come into being, nothing of it has run, and its direction stays its own. */
  async function expectHarmless(page: Page): Promise<void> {
    expect(await page.locator('main :is(img, script, b)').count()).toBe(0);
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
    expect(await page.title()).not.toBe('owned');
    const loose = await page.evaluate<string[]>(`[...document.querySelectorAll('main *')]
      .filter((element) => !element.closest('bdi, svg, option, title'))
      .flatMap((element) => [...element.childNodes])
      .filter((node) => node.nodeType === Node.TEXT_NODE && node.data.includes('\\u202E'))
      .map((node) => node.parentElement.outerHTML)`);
    expect(loose).toEqual([]);
  }

  it('integrations are made, rotated and deleted', async () => {
    const page = await visit('#/integrations');
    await page.getByRole('list', { name: 'Integrations' }).waitFor();
    const cards = page.getByRole('list', { name: 'Integrations' }).locator('> li');
    const before = await cards.count();
    await page.getByLabel('Type').selectOption('alertmanager');
    await page.getByRole('button', { name: 'Create' }).click();
    await expect.poll(() => cards.count()).toBe(before + 1);
    const card = cards.filter({ hasText: 'alertmanager' });
    const url = () => card.getByLabel('Webhook URL').inputValue();
    const old = await url();
    expect(old).toMatch(/\/webhooks\/alertmanager\//);
    await card.getByRole('button', { name: 'Rotate token' }).click();
    await card.getByRole('button', { name: /Rotate\?/ }).click();
    await expect.poll(url).not.toBe(old);
    await card.getByRole('button', { name: 'Delete' }).click();
    await card.getByRole('button', { name: /Delete\?/ }).click();
    await expect.poll(() => cards.count()).toBe(before);
  });

  it("an agent's event log is filtered and paged", async () => {
    const other = await newTenant('paged');
    const events = Array.from({ length: 25 }, (_, index) =>
      eventBody({ entity: `e-${index}`, service_name: index % 5 === 0 ? 'fifth' : 'rest' }),
    );
    await server.http.post('/v1/events/batch', other.ingest, events);
    const page = await open();
    await enter(page, `${server.process.url}/#/agents`, other.readOnly);
    await page.getByRole('link', { name: /db-1/ }).click();
    await page.getByText('25 events, page 1 of 3').waitFor();
    await page.getByRole('button', { name: 'Older' }).click();
    await page.getByText('25 events, page 2 of 3').waitFor();
    await page.getByLabel('Service').selectOption('fifth');
    await page.getByText('5 events, page 1 of 1').waitFor();
    expect(page.url()).toContain('service=fifth');
  });

  it('ten thousand services are listed and searched', async () => {
    const other = await newTenant('many');
    const events = Array.from({ length: 10_000 }, (_, index) =>
      eventBody({ service_name: `service-${index}` }),
    );
    expect((await server.http.post('/v1/events/batch', other.ingest, events)).status).toBe(200);
    const page = await open();
    await enter(page, server.process.url, other.readOnly);
    await page.getByText('10,000 services', { exact: true }).waitFor();
    const sinceMs = performance.now();
    await page.getByLabel('Search services').fill('service-9876');
    await page.getByRole('link', { name: /service-9876/ }).waitFor();
    expect(performance.now() - sinceMs).toBeLessThan(2000);
  }, 60_000);

  it('a service with a thousand live events stays smooth', async () => {
    const other = await newTenant('busy');
    const types = ['deploy', 'restart', 'saturation', 'flag_change', 'circuit_open', 'dependency_failure'];
    const events = Array.from({ length: 1000 }, (_, index) =>
      eventBody({ entity: `e-${index}`, event_type: types[index % types.length] }),
    );
    await server.http.post('/v1/events/batch', other.ingest, events);
    const page = await open();
    await enter(page, server.process.url, other.readOnly);
    await page.getByRole('link', { name: /checkout-api/ }).click();
    // What has no row is counted, and shown when somebody asks for it.
    await page.getByRole('button', { name: /more deploy events/ }).waitFor();
    for (const type of types) {
      await page.getByRole('button', { name: new RegExp(`more ${type.replace('_', ' ')} events`) }).click();
    }
    await expect.poll(() => page.locator('.bars rect').count()).toBe(1000);
    let isOver = false;
    const more = (async () => {
      for (let count = 0; !isOver; count += 1) {
        await sendEvent(server, other.ingest, { entity: `more-${count}`, ttl_seconds: 2 });
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    const frames = await page.evaluate<number[]>(`(async () => {
      const frames = [];
      let last = performance.now();
      const endMs = last + 3000;
      while (last < endMs) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
        const now = performance.now();
        frames.push(now - last);
        last = now;
      }
      return frames.sort((a, b) => a - b);
    })()`);
    isOver = true;
    await more;
    // Two cores are shared with a server and other tests: alone it is 17 and about 40 ms.
    expect(frames[Math.floor(frames.length / 2)]).toBeLessThan(50);
    expect(frames.at(-1)).toBeLessThan(400);
  }, 60_000);

  it('a server that sheds lists and windows is asked until they come, and nothing is said to be missing', async () => {
    const other = await newTenant('shed');
    await sendEvent(server, other.ingest, { service_name: 'shed-api' });
    const page = await open();
    let isBusy = true;
    const shed = new Map<string, number>();
    await page.route(/\/v1\/(?!stream)/, (route) => {
      const path = new URL(route.request().url()).pathname.replace(/[0-9a-f-]{36}/, 'id');
      const before = shed.get(path) ?? 0;
      if (!isBusy && (before > 2 || !path.endsWith('/context'))) return route.continue();
      shed.set(path, before + 1);
      return route.fulfill({ status: 503, headers: { 'Retry-After': '0' }, body: 'busy' });
    });
    await enter(page, server.process.url, other.readOnly);
    await page.getByText('The server is busy; still loading').waitFor();
    const lists = ['/v1/agents', '/v1/alerts', '/v1/integrations', '/v1/services'];
    // More often than a single call is tried.
    const isAskedOn = () => lists.every((path) => (shed.get(path) ?? 0) > 2);
    await expect.poll(isAskedOn, { timeout: 20_000 }).toBe(true);
    expect(await page.getByText('No service has sent anything yet').isVisible()).toBe(false);
    isBusy = false;
    await page.getByText('Live', { exact: true }).waitFor({ timeout: 20_000 });
    await page.getByRole('link', { name: /shed-api.*deploy/ }).waitFor({ timeout: 20_000 });
    expect(shed.get('/v1/services/id/context')).toBe(3);
  }, 60_000);

  it('where there is nothing yet, it says what to do', async () => {
    const other = await server.newTenant('empty');
    const page = await open();
    await enter(page, server.process.url, other.readOnly);
    await page.getByText('No service has sent anything yet').waitFor();
    await expect
      .poll(() => page.locator('pre').textContent())
      .toContain(`curl -sS ${server.process.url}/v1/events`);
  });
});

describe.skipIf(NO_BROWSER !== undefined)('over a restart', () => {
  it('a lost connection is shown, comes back by itself, and nothing is missed', async () => {
    const browser = await launch();
    // Not one that the system gives to others meanwhile.
    const port = 20_000 + (process.pid % 10_000);
    const server = await TestServer.start('--port', String(port));
    const { tenant } = server;
    let next: ServerProcess | undefined;
    try {
      await register(server, tenant.ingest);
      const { page } = await openPage(browser);
      await enter(page, server.process.url, tenant.readOnly);
      await page.getByText('Live', { exact: true }).waitFor();
      server.http.close();
      await server.process.stop();
      await page.getByText('Connection lost').waitFor();
      const { dataDirectory, url } = server.process;
      next = await startServer(dataDirectory, ['--port', String(port)]);
      await fetch(`${url}/v1/events`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${tenant.ingest}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(eventBody({ service_name: 'meanwhile-api' })),
      });
      await page.getByText('Live', { exact: true }).waitFor();
      await page.getByRole('link', { name: /meanwhile-api.*deploy/ }).waitFor();
    } finally {
      await browser.close();
      await next?.stop();
    }
  }, 60_000);
});
