/** A service's time in a real browser: what it shows, how it is moved, and how it is walked through. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createIntegration, raiseAlert, register, sendEvent, serviceNamed } from '../http/operations.ts';
import { eventBody, type Tenant, TestServer } from '../support/http.ts';
import { launch, NO_BROWSER, type Opened, openLive } from './browser.ts';

describe.skipIf(NO_BROWSER !== undefined)('the timeline of a service', () => {
  let browser: Browser;
  let server: TestServer;
  let tenant: Tenant;
  let opened: Opened | undefined;

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
    await opened?.page.close();
    expect(opened?.complaints).toEqual([]);
  });

  async function visit(address: string, options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
    opened = await openLive(browser, `${server.process.url}/${address}`, tenant.readOnly, options);
    return opened.page;
  }

  const idOf = async (name: string) => (await serviceNamed(server, tenant.readOnly, name)).id;
  const queryOf = (page: Page) => new URLSearchParams(page.url().split('?')[1] ?? '');
  const toOf = (page: Page) => Date.parse(queryOf(page).get('to') ?? '');

  it('has what other agents told and what has expired, also for whoever comes later', async () => {
    const service_name = 'told-by-two';
    const [row] = await server.newKeys(tenant.name, 'ingest');
    if (row === undefined) throw new Error('no key');
    await register(server, row.key, { hostname: 'k8s-1' });
    await sendEvent(server, tenant.ingest, { service_name, entity: 'bad-deploy', ttl_seconds: 1 });
    await sendEvent(server, row.key, { service_name, entity: 'pod', event_type: 'restart' });
    await new Promise((resolve) => setTimeout(resolve, 1200));
    const page = await visit(`#/services/${await idOf(service_name)}?span=60`);
    await page.locator('.bars rect.deploy.over').waitFor();
    await page.locator('.bars rect.restart.live').waitFor();
    await page
      .getByRole('list', { name: /Events in view/ })
      .getByText('bad-deploy')
      .waitFor();
  });

  it('tells events apart that differ in their values alone', async () => {
    const service_name = 'flip-flop';
    const timestamp = new Date().toISOString();
    const flips = [
      ['off', 'on'],
      ['on', 'off'],
      ['off', 'on'],
    ].map(([old_value, new_value]) =>
      eventBody({ service_name, event_type: 'flag_change', entity: 'flag', old_value, new_value, timestamp }),
    );
    expect((await server.http.post('/v1/events/batch', tenant.ingest, flips)).status).toBe(200);
    const page = await visit(`#/services/${await idOf(service_name)}`);
    await expect.poll(() => page.locator('.bars rect').count()).toBe(3);
    expect(await page.locator('.events li').count()).toBe(3);
    await page.goto(`${server.process.url}/#/services`);
    await page.getByRole('link', { name: /flip-flop.*flag change ×3/ }).waitFor();
  });

  it('turns to the alert that one has come for, and to what it may be due to', async () => {
    const service_name = 'long-ago';
    const hourMs = 3_600_000;
    const at = (agoMs: number) => new Date(Date.now() - agoMs).toISOString();
    await sendEvent(server, tenant.ingest, { service_name, entity: 'culprit', timestamp: at(5.2 * hourMs) });
    const integration = await createIntegration(server, tenant.readOnly);
    const id = await raiseAlert(server, tenant, integration, 'POLD', {
      service: { summary: service_name },
      title: 'long since',
      created_at: at(5 * hourMs),
    });
    const page = await visit(`#/alerts/${id}`);
    await page.getByRole('link', { name: 'Show on the timeline' }).click();
    await page.getByRole('button', { name: /^Alert .*long since/, pressed: true }).waitFor();
    expect(Math.abs(toOf(page) - (Date.now() - 5 * hourMs))).toBeLessThan(2 * hourMs);
    // A choice of what lies elsewhere leads there, and back.
    await page.getByRole('button', { name: 'Now: follow the present' }).click();
    await expect.poll(() => page.getByRole('button', { name: /^Alert .*long since/ }).count()).toBe(0);
    await page.getByRole('button', { name: /^long since/ }).click();
    await page.getByRole('button', { name: /^long since/ }).click();
    await page.getByRole('button', { name: /^Alert .*long since/ }).waitFor();
  });

  it('is walked through with arrow keys, and every event says all that is known of it', async () => {
    const service_name = 'walked';
    for (const entity of ['first', 'second', 'third']) {
      await sendEvent(server, tenant.ingest, { service_name, entity, sha: `${entity}-sha`, confidence: 0.7 });
      // Bars stand in the order of their beginning, which is known to the millisecond.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const page = await visit(`#/services/${await idOf(service_name)}?span=900`);
    await expect.poll(() => page.locator('.bars rect').count()).toBe(3);
    await page.locator('.bars [tabindex="0"]').focus();
    const details = page.locator('.details');
    await details.getByText('first-sha').waitFor();
    await page.keyboard.press('ArrowRight');
    await details.getByText('second-sha').waitFor();
    await page.keyboard.press('End');
    await details.getByText('third-sha').waitFor();
    for (const told of ['0.7', 'received', 'happened', 'db-1'])
      expect(await details.textContent()).toContain(told);
    await page.keyboard.press('ArrowLeft');
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toMatch(/second/);
    // Chosen, it stays when the focus goes on.
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Copy link' }).focus();
    await details.getByText('second-sha').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => details.isHidden()).toBe(true);
    // Of a list, too, an event leads to its bar.
    await page.locator('.events button').last().click();
    await details.getByText('first-sha').waitFor();
  });

  it('is dragged with a mouse, zoomed with a wheel about what it points at, and does not move the page meanwhile', async () => {
    await sendEvent(server, tenant.ingest, { service_name: 'dragged' });
    const page = await visit(`#/services/${await idOf('dragged')}`);
    const box = await page.locator('.lanes').boundingBox();
    if (box === null) throw new Error('no picture');
    const { x, y, width } = box;
    await page.mouse.move(x + width / 2, y + 60);
    await page.mouse.down();
    await page.mouse.move(x + width / 2 + width / 4, y + 60, { steps: 4 });
    await page.mouse.up();
    // A quarter of an hour back, and some that lay ahead.
    await expect.poll(() => (Date.now() - toOf(page)) / 60_000).toBeGreaterThan(7);
    expect((Date.now() - toOf(page)) / 60_000).toBeLessThan(9);
    const leftMs = toOf(page) - 3_600_000;
    const pointedMs = leftMs + 0.25 * 3_600_000;
    await page.mouse.move(x + width / 4, y + 60);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
    await expect.poll(() => Number(queryOf(page).get('span'))).toBe(3000);
    expect(Math.abs(toOf(page) - 0.75 * 3_000_000 - pointedMs)).toBeLessThan(2000);
    // Let go of outside it does not go on.
    await page.mouse.move(x + width / 2, y + 60);
    await page.mouse.down();
    await page.mouse.move(x + width / 2, y + 2000);
    await page.mouse.up();
    const stoodMs = toOf(page);
    await page.mouse.move(x + width / 4, y + 60, { steps: 4 });
    await page.waitForTimeout(400);
    expect(toOf(page)).toBe(stoodMs);
    // To the present, and no further.
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.down('Shift');
    for (let turns = 0; turns < 20; turns += 1) await page.mouse.wheel(0, 300);
    await page.keyboard.up('Shift');
    await expect.poll(() => queryOf(page).has('to')).toBe(false);
    expect(await page.evaluate('scrollY')).toBe(0);
  });

  it('has a time that is pinched', async () => {
    await sendEvent(server, tenant.ingest, { service_name: 'pinched' });
    const page = await visit(`#/services/${await idOf('pinched')}`, {
      ...{ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
    });
    const box = await page.locator('.lanes').boundingBox();
    if (box === null) throw new Error('no picture');
    const session = await page.context().newCDPSession(page);
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...xs: readonly number[]) =>
      session.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: xs.map((left, id) => ({ id, x: box.x + left, y: box.y + 60 })),
      });
    await touch('touchStart', 150, 200);
    for (const apart of [60, 80, 100]) await touch('touchMove', 175 - apart / 2, 175 + apart / 2);
    await touch('touchEnd');
    await expect.poll(() => Number(queryOf(page).get('span') ?? 3600)).toBeLessThan(2400);
    expect(Number(queryOf(page).get('span'))).toBeGreaterThan(1200);
    expect(await page.evaluate('visualViewport.scale')).toBe(1);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  });

  it('is what a link says it is, also where something fires by now', async () => {
    const service_name = 'linked';
    await sendEvent(server, tenant.ingest, { service_name });
    const integration = await createIntegration(server, tenant.readOnly);
    await raiseAlert(server, tenant, integration, 'PLINKED', {
      service: { summary: service_name },
      title: 'now',
    });
    const to = new Date(Date.now() - 30 * 3_600_000).toISOString();
    const page = await visit(`#/services/${await idOf(service_name)}?span=900&to=${to}`);
    await page.getByText('What changed before now').waitFor();
    await page.waitForTimeout(500);
    expect(toOf(page)).toBe(Date.parse(to));
    expect(queryOf(page).get('span')).toBe('900');
    // What it may be due to leads to its bar.
    await page.getByRole('button', { name: 'Show candidate 1' }).click();
    await page.locator('.bars .chosen').waitFor();
    await page.locator('.details').getByText('candidate').waitFor();
    // What is chosen is let go of by a click beside it, or Escape wherever one is.
    await page.locator('.lanes').click({ position: { x: 5, y: 60 } });
    await expect.poll(() => page.locator('.details').isHidden()).toBe(true);
    await page.getByRole('button', { name: 'Show candidate 1' }).click();
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.details').isHidden()).toBe(true);
  });

  it('ends with its view: nothing of it listens or comes too late', async () => {
    await sendEvent(server, tenant.ingest, { service_name: 'left' });
    const id = await idOf('left');
    const page = await visit(`#/services/${id}`);
    await page.getByRole('heading', { level: 1, name: 'left' }).waitFor();
    await page.route(/\/v1\/agents\/0/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      await route.continue();
    });
    await page.goto(`${server.process.url}/#/agents/${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`);
    await page.goto(`${server.process.url}/#/services`);
    await page.getByRole('link', { name: /^left/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForTimeout(800);
    expect(page.url()).toMatch(/#\/services$/);
    expect(await page.getByText('There is no such agent').count()).toBe(0);
  });

  it('of any address that somebody may type shows something, at once', async () => {
    await sendEvent(server, tenant.ingest, { service_name: 'typed' });
    const id = await idOf('typed');
    const page = await visit('');
    for (const query of [
      'span=1e14',
      'span=-5',
      'span=x&to=y',
      'to=9999-12-31T00:00:00Z',
      'to=-271821-04-20T00:00:00Z',
      'alert=none',
    ]) {
      await page.goto(`${server.process.url}/#/services/${id}?${query}`);
      await page.getByRole('heading', { level: 1, name: 'typed' }).waitFor({ timeout: 3000 });
    }
    await page.getByText('There is no such alert').waitFor();
    for (const address of [
      '#/services/none',
      `#/services/${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`,
    ]) {
      await page.goto(`${server.process.url}/${address}`);
      await page.getByRole('heading', { name: 'There is no such service' }).waitFor();
    }
    await page.goto(`${server.process.url}/#/services/%E0%A4%A`);
    await page.getByRole('heading', { name: 'There is no such service' }).waitFor();
    await page.goto(`${server.process.url}/#/nothing/here`);
    await page.getByRole('heading', { level: 1, name: 'Services' }).waitFor();
  });
});
