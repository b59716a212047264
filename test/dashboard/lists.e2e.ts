/** Lists and forms of the page in a real browser: that they show what is so now, and say what they do not know. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createIntegration,
  integrations,
  raiseAlert,
  register,
  sendEvent,
  webhookPath,
} from '../http/operations.ts';
import { eventBody, type Tenant, TestServer } from '../support/http.ts';
import { enter, launch, NO_BROWSER, type Opened, openLive, openPage } from './browser.ts';

describe.skipIf(NO_BROWSER !== undefined)('the lists of the dashboard', () => {
  let browser: Browser;
  let server: TestServer;
  let tenant: Tenant;
  let opened: Opened | undefined;

  beforeAll(async () => {
    browser = await launch();
    server = await TestServer.start('--outbound-allow', '127.0.0.1');
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });
  afterEach(async () => {
    await opened?.page.close();
    expect(opened?.complaints).toEqual([]);
  });

  async function visit(address = ''): Promise<Page> {
    opened = await openLive(browser, `${server.process.url}/${address}`, tenant.readOnly);
    return opened.page;
  }

  async function newTenant(name: string): Promise<void> {
    tenant = await server.newTenant(name);
    await register(server, tenant.ingest);
  }

  it('a service is under fire however long ago that began, and however many alerts came since', async () => {
    await newTenant('alerted');
    await sendEvent(server, tenant.ingest, { service_name: 'burning' });
    const integration = await createIntegration(server, tenant.readOnly, {
      type: 'alertmanager',
      direction: 'inbound',
    });
    const alert = (n: number, status: 'firing' | 'resolved', minutesAgo: number) => ({
      status,
      fingerprint: `f${n}`,
      labels: { alertname: `alert ${n}`, service: n === 0 ? 'burning' : 'none' },
      annotations: {},
      startsAt: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
      endsAt: status === 'resolved' ? new Date().toISOString() : '0001-01-01T00:00:00Z',
    });
    const deliver = async (alerts: readonly object[], status: string) => {
      const body = { version: '4', groupKey: `g-${status}-${alerts.length}`, status, alerts };
      expect((await server.http.post(webhookPath(integration), undefined, body)).status).toBe(202);
    };
    await deliver([alert(0, 'firing', 600)], 'firing');
    const many = Array.from({ length: 120 }, (_, n) => n + 1);
    await deliver(
      many.map((n) => alert(n, 'firing', 5)),
      'firing',
    );
    const page = await visit();
    await page.getByText('1 service, 1 under fire').waitFor();
    await page.locator('.services li.firing').getByText('alert 0').waitFor();
    await page.goto(`${server.process.url}/#/alerts`);
    await page.getByText('121 firing, 121 alerts in all').waitFor();
    await page.getByRole('button', { name: 'Show more (21)' }).click();
    await expect.poll(() => page.locator('.alerts li').count()).toBe(121);
    await deliver(
      many.map((n) => alert(n, 'resolved', 5)),
      'resolved',
    );
    await page.getByText('1 firing, 121 alerts in all').waitFor();
    await page.getByLabel('Search alerts').fill('burning');
    await page.getByText('1 firing, 121 alerts in all, 1 found').waitFor();
    expect(page.url()).toContain('q=burning');
    // Whoever comes now knows the newest hundred, and of the rest what fires.
    await page.goto('about:blank');
    await page.goto(`${server.process.url}/#/alerts`);
    await page.getByText('1 firing, 121 alerts in all').waitFor();
    await page.getByRole('button', { name: /Load older alerts \(20\)/ }).waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: /Show more/ }).click();
    await page.getByRole('button', { name: /Load older alerts/ }).click();
    await expect.poll(() => page.locator('.alerts li').count()).toBe(121);
  }, 60_000);

  it('agents are as busy as they are, also while somebody looks on', async () => {
    await newTenant('busy');
    const send = (count: number) =>
      server.http.post(
        '/v1/events/batch',
        tenant.ingest,
        Array.from({ length: count }, () => eventBody()),
      );
    await send(1500);
    const page = await visit('#/agents');
    await page.getByText('1,500 events in 1 h').waitFor();
    const spark = page.locator('.spark');
    await expect
      .poll(() => spark.getAttribute('aria-label'))
      .toBe('1,500 events in the last hour, at most 1500 in 3 minutes');
    await send(7);
    await page.getByText('1,507 events in 1 h').waitFor();
  });

  it("an agent's event log goes on by itself, and is not turned under whoever reads an older page", async () => {
    await newTenant('logged');
    for (let n = 0; n < 12; n += 1) await sendEvent(server, tenant.ingest, { entity: `e-${n}` });
    const page = await visit('#/agents');
    await page.getByRole('link', { name: /db-1/ }).click();
    await page.getByText('12 events, page 1 of 2').waitFor();
    await sendEvent(server, tenant.ingest, { entity: 'newest' });
    await page.getByRole('region', { name: 'Event log' }).getByText('newest').waitFor();
    await page.getByRole('button', { name: 'Older' }).click();
    await page.getByText('13 events, page 2 of 2').waitFor();
    await sendEvent(server, tenant.ingest, { entity: 'newer still' });
    await page.getByRole('button', { name: /show the newest/ }).click();
    await page.getByRole('region', { name: 'Event log' }).getByText('newer still').waitFor();
    // A page back is a step back.
    await page.goBack();
    await page.getByText('14 events, page 2 of 2').waitFor();
  });

  it('answers that come too late change nothing any more', async () => {
    await newTenant('late');
    for (const service_name of ['a-api', 'z-api']) await sendEvent(server, tenant.ingest, { service_name });
    const page = await visit('#/agents');
    await page.getByRole('link', { name: /db-1/ }).click();
    await page.getByText('2 events, page 1 of 1').waitFor();
    let let_ = () => {};
    const held = new Promise<void>((resolve) => {
      let_ = resolve;
    });
    await page.route(/service=a-api/, async (route) => {
      await held;
      await route.continue();
    });
    await page.getByLabel('Service').selectOption('a-api');
    await page.getByLabel('Service').selectOption('z-api');
    await page.getByText('1 event, page 1 of 1').waitFor();
    let_();
    await page.waitForTimeout(300);
    const log = page.getByRole('region', { name: 'Event log' });
    expect(await log.textContent()).toContain('z-api');
    expect(await log.textContent()).not.toContain('a-api');
  });

  it('an integration is set up where it was made, and what it sends is seen as it is sent', async () => {
    await newTenant('settled');
    await sendEvent(server, tenant.ingest, { service_name: 'noted' });
    const page = await visit('#/integrations');
    await page.getByLabel('Direction').selectOption('bidirectional');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Sends nothing yet').waitFor();
    await page.getByText('Settings', { exact: true }).click();
    await page.getByLabel('REST API key').fill('has a space');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/The settings were not saved: .*printable ASCII/).waitFor();
    await page.getByLabel('REST API key').fill('u+abcdefgh');
    await page.getByLabel('From').fill('oncall@example.com');
    await page.getByLabel('Look back, seconds').fill('600');
    const services = page.getByLabel('Services', { exact: true });
    await services.fill('Shop = EU = noted\nShop = EU = other');
    // A name stands for one service.
    expect(await services.evaluate((field) => field.matches(':invalid'))).toBe(true);
    await services.fill('Shop = EU = noted\nOther=other');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    await expect.poll(() => page.getByText('Sends nothing yet').count()).toBe(0);
    const [made] = await integrations(server, tenant.readOnly);
    expect(made?.config).toEqual({
      pagerduty_token: 'u+abcdefgh',
      pagerduty_from: 'oncall@example.com',
      lookback_seconds: 600,
      service_map: { 'Shop = EU': 'noted', Other: 'other' },
    });
    // What the page knows nothing of is not its to change.
    const path = `/v1/integrations/${made?.id}`;
    await server.http.put(path, tenant.readOnly, { config: { ...made?.config, ours: [1] } });
    await page.waitForTimeout(500);
    await page.getByLabel('Look back, seconds').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => (await integrations(server, tenant.readOnly))[0]?.config)
      .toMatchObject({ ours: [1] });
    expect((await integrations(server, tenant.readOnly))[0]?.config).not.toHaveProperty('lookback_seconds');
    await page.getByText(/^What was sent/).click();
    await page.getByText('Nothing yet.').waitFor();
    if (made === undefined) throw new Error('no integration');
    await raiseAlert(server, tenant, made, 'PSENT', { service: { summary: 'Shop = EU' } });
    // Where it goes nobody answers: it is seen to be tried.
    await page.getByRole('list', { name: 'Deliveries' }).getByText('note').waitFor();
    await page.getByText('1 alert came in').waitFor();
  });

  it('what failed is said to have, where it was asked for, and nothing is made up meanwhile', async () => {
    await newTenant('failing');
    await sendEvent(server, tenant.ingest, { service_name: 'slow' });
    const integration = await createIntegration(server, tenant.readOnly);
    const id = await raiseAlert(server, tenant, integration, 'PSLOW', { service: { summary: 'slow' } });
    opened = await openPage(browser);
    const { page } = opened;
    page.setDefaultTimeout(10_000);
    const alert = new RegExp(`/v1/alerts/${id}$`);
    await page.route(alert, () => {});
    await enter(page, `${server.process.url}/#/alerts/${id}`, tenant.readOnly);
    await page.getByText('Posted back').waitFor();
    expect(await page.getByText('Nothing is known').count()).toBe(0);
    expect(await page.getByText('There is no such alert').count()).toBe(0);
    await page.getByText('Loading…').first().waitFor();
    await page.unroute(alert);
    await page.route(/\/context$/, (route) => route.fulfill({ status: 500, body: 'broken window' }));
    await page.goto(`${server.process.url}/#/services`);
    await page.getByText('not loaded').waitFor();
    await page.getByRole('link', { name: /slow/ }).click();
    await page.getByText('Not all events could be loaded: broken window.').waitFor();
    await page.route(/\/v1\/integrations$/, (route) =>
      route.request().method() === 'POST' ? route.abort() : route.continue(),
    );
    await page.goto(`${server.process.url}/#/integrations`);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('The integration was not created: the server cannot be reached').waitFor();
    await page.goto(`${server.process.url}/#/alerts/${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`);
    await page.getByRole('heading', { name: 'There is no such alert' }).waitFor();
  });

  it('a list that breaks is said to, and comes when it can', async () => {
    await newTenant('broken');
    await sendEvent(server, tenant.ingest, { service_name: 'mended' });
    opened = await openPage(browser);
    const { page } = opened;
    await page.route(/\/v1\/services$/, (route) => route.fulfill({ status: 500, body: 'out of luck' }));
    await enter(page, server.process.url, tenant.readOnly);
    await page.getByText('The services could not be loaded: out of luck. It is tried again.').waitFor();
    expect(await page.getByText('No service has sent anything yet').isVisible()).toBe(false);
    await page.unroute(/\/v1\/services$/);
    await page.getByRole('link', { name: /mended/ }).waitFor();
    await page.getByText('out of luck').waitFor({ state: 'hidden' });
  });
});
