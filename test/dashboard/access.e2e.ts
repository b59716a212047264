/** Whoever cannot see the page as drawn, or point at it, can use it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createIntegration, raiseAlert, register, sendEvent } from '../http/operations.ts';
import { type Tenant, TestServer } from '../support/http.ts';
import { enter, launch, NO_BROWSER, openPage } from './browser.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SETTLED_MS = 400;

describe.skipIf(NO_BROWSER !== undefined)('the dashboard', () => {
  let browser: Browser;
  let server: TestServer;
  let tenant: Tenant;
  let page: Page;

  beforeAll(async () => {
    browser = await launch();
    server = await TestServer.start();
    tenant = server.tenant;
    await register(server, tenant.ingest);
    for (const event_type of ['deploy', 'restart', 'flag_change']) {
      await sendEvent(server, tenant.ingest, { service_name: 'burning-api', event_type, old_value: 'v1' });
    }
    await sendEvent(server, tenant.ingest, { service_name: 'calm-api' });
    const integration = await createIntegration(server, tenant.readOnly);
    const service = { service: { summary: 'burning-api' } };
    await raiseAlert(server, tenant, integration, 'PBURN', { ...service, title: 'on fire' });
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });
  afterEach(() => page.close());

  async function visit(address = '', options: Parameters<Browser['newPage']>[0] = {}): Promise<void> {
    page = (await openPage(browser, options)).page;
    page.setDefaultTimeout(10_000);
    await enter(page, `${server.process.url}/${address}`, tenant.readOnly);
    await page.getByText('Live', { exact: true }).waitFor();
  }

  const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  const focused = () => page.evaluate<string>('document.activeElement.textContent');
  const press = (key: string) => page.keyboard.press(key);

  /** Presses Tab until what is asked for has the focus; fails where it never has. */
  async function tabTo(text: RegExp): Promise<void> {
    const passed: string[] = [];
    while (passed.length < 60) {
      await press('Tab');
      const now = await focused();
      if (text.test(now)) return;
      passed.push(now);
    }
    throw new Error(`${text} is not reached; passed: ${passed.join(' | ')}`);
  }

  async function expectAccessible(): Promise<void> {
    await page.waitForTimeout(SETTLED_MS);
    await page.evaluate(AXE);
    const violations = await page.evaluate(
      `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
        .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`,
    );
    expect({ at: page.url(), violations }).toEqual({ at: page.url(), violations: [] });
  }

  it.each(['light', 'dark'] as const)(
    'axe finds nothing to complain of in any view, in %s',
    async (colorScheme) => {
      const empty = await server.newTenant(`empty-${colorScheme}`);
      page = (await openPage(browser, { colorScheme })).page;
      page.setDefaultTimeout(10_000);
      for (const width of [1200, 390]) {
        await page.setViewportSize({ width, height: 844 });
        await page.goto(server.process.url);
        await page.evaluate('sessionStorage.clear()');
        await page.reload();
        await expectAccessible();
        await enter(page, server.process.url, 'fsk_ro_wrong');
        await page.locator('main .problem').waitFor();
        await expectAccessible();
        await page.getByLabel('Read-only key').fill(tenant.readOnly);
        await press('Enter');
        for (const address of ['', '#/agents', '#/alerts', '#/integrations']) {
          await page.goto(`${server.process.url}/${address}`);
          await page.getByRole('heading', { level: 1 }).waitFor();
          await expectAccessible();
          const first = page.locator('.rows > li > a').first();
          if ((await first.count()) === 0) continue;
          await first.click();
          await page.locator('.crumbs').waitFor();
          await expectAccessible();
        }
        // What opens when somebody points, chooses or sets up.
        await page.goto(`${server.process.url}/#/services`);
        await page.getByRole('link', { name: /burning-api/ }).click();
        await page.getByRole('button', { name: 'Show candidate 1' }).click();
        await page.locator('.details dd').first().waitFor();
        await expectAccessible();
        await page.goto(`${server.process.url}/#/integrations`);
        await page.getByText('Settings', { exact: true }).click();
        await page.getByRole('button', { name: 'Rotate token' }).click();
        await expectAccessible();
        await page.getByRole('button', { name: 'Forget key' }).click();
        await page.getByLabel('Read-only key').fill(empty.readOnly);
        await press('Enter');
        for (const address of [
          '',
          '#/agents',
          '#/alerts',
          '#/integrations',
          '#/services/none',
          '#/alerts/none',
        ]) {
          await page.goto(`${server.process.url}/${address}`);
          await page.getByRole('heading', { level: 1 }).waitFor();
          await expectAccessible();
        }
      }
    },
    120_000,
  );

  it('all of it can be walked through with a keyboard alone', async () => {
    page = (await openPage(browser)).page;
    page.setDefaultTimeout(10_000);
    await page.goto(server.process.url);
    // The key's field has the focus as soon as it is there.
    await page.getByLabel('Read-only key').waitFor();
    await page.keyboard.type(tenant.readOnly);
    await press('Enter');
    await heading('Services');
    await page.getByRole('link', { name: /burning-api/ }).waitFor();
    await tabTo(/^burning-api/);
    await press('Enter');
    await heading('burning-api');
    // The new view begins at its beginning, not at the head of the page.
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await tabTo(/^6 h$/);
    await press('Enter');
    await expect.poll(() => page.url()).toContain('span=21600');
    await tabTo(/^\+$/);
    await press('Space');
    await expect.poll(() => page.url()).toContain('span=10800');
    await tabTo(/^All of this alert$/);
    await press('Enter');
    await heading('on fire');
    await tabTo(/^Show on the timeline$/);
    await press('Enter');
    await heading('burning-api');
    await tabTo(/^on fire/);
    await press('Enter');
    await expect.poll(() => page.locator('.causes').isHidden()).toBe(true);
    await page.reload();
    await heading('burning-api');
    await press('Tab');
    expect(await focused()).toBe('Skip to content');
    await tabTo(/^Agents$/);
    await press('Enter');
    await heading('Agents');
    await tabTo(/^db-1/);
    await press('Enter');
    await heading('db-1');
    await press('Tab');
    await press('Tab');
    await page.keyboard.type('burning');
    await expect.poll(() => page.url()).toContain('service=burning-api');
    await page.goto(`${server.process.url}/#/integrations`);
    await heading('Integrations');
    await tabTo(/^Rotate token$/);
    await press('Enter');
    // What cannot be taken back is asked about, and the first answer is no.
    expect(await focused()).toBe('Cancel');
    await page.getByRole('button', { name: 'The old URL stops working. Rotate?' }).waitFor();
    await press('Escape');
    expect(await focused()).toBe('Rotate token');
    await tabTo(/^Settings/);
    await press('Enter');
    await tabTo(/^Save$/);
  }, 60_000);

  it('what has the focus keeps it, though all around it changes', async () => {
    await visit();
    const link = page.getByRole('link', { name: /calm-api/ });
    await link.focus();
    for (let count = 0; count < 3; count += 1) {
      await sendEvent(server, tenant.ingest, { service_name: 'calm-api', event_type: 'saturation' });
      await sendEvent(server, tenant.ingest, { service_name: `new-api-${count}` });
    }
    await page.getByRole('link', { name: /new-api-2/ }).waitFor();
    await page.getByRole('link', { name: /calm-api.*saturation ×3/ }).waitFor();
    expect(await focused()).toMatch(/^calm-api/);
    await page.goto(`${server.process.url}/#/alerts`);
    await page.getByRole('link', { name: /on fire/ }).focus();
    await sendEvent(server, tenant.ingest, { service_name: 'burning-api', event_type: 'circuit_open' });
    await page.waitForTimeout(1500);
    expect(await focused()).toMatch(/^on fire/);
  });

  it('nothing moves for whoever wants nothing to move', async () => {
    await visit('', { reducedMotion: 'reduce' });
    await page.getByRole('link', { name: /burning-api/ }).click();
    await page.locator('.bars rect.candidate').first().waitFor();
    const moving = await page.evaluate<number>('document.getAnimations().length');
    expect(moving).toBe(0);
  });

  it('a link that is copied shows a colleague the same, also later', async () => {
    await visit('', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('link', { name: /burning-api/ }).click();
    await page.locator('.bars rect.candidate').first().waitFor();
    await page.getByRole('button', { name: '15 min in view' }).click();
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toMatch(/#\/services\/[0-9a-f-]{36}\?span=900&to=[^&]+&alert=[0-9a-f-]{36}$/);
    expect(copied).not.toContain(tenant.readOnly);
    // Without TLS a page is not let at the clipboard: the old way is taken.
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await page.close();
    page = (await openPage(browser)).page;
    await enter(page, copied, tenant.readOnly);
    await heading('burning-api');
    await page.locator('.bars rect.candidate').first().waitFor();
    await page.getByRole('button', { name: '15 min in view', pressed: true }).waitFor();
    await page.getByRole('button', { name: 'Now: follow the present', pressed: false }).waitFor();
  });
});
