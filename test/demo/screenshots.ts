/** Every view of the page, in both themes and on a phone's width. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { enter, launch, NO_BROWSER } from '../dashboard/browser.ts';
import { STORIES } from './fleet.ts';
import type { Demo } from './server.ts';

const DIRECTORY = join(import.meta.dirname, 'screenshots');
const MAX_BYTES = 60 * 1024;
/** Tried in turn, until a picture is small enough. */
const QUALITIES = [80, 65, 50, 35];

const LOOKS = [
  { look: 'light', colorScheme: 'light', width: 1180, height: 860 },
  { look: 'dark', colorScheme: 'dark', width: 1180, height: 860 },
  { look: 'phone', colorScheme: 'light', width: 390, height: 844 },
] as const;
type Look = (typeof LOOKS)[number];

/** What is done on the page before it is looked at. */
interface Shot {
  readonly name: string;
  readonly address: string;
  readonly settle: (page: Page) => Promise<void>;
}

const SETTLED_MS = 900;

export async function takeScreenshots(demo: Demo): Promise<void> {
  if (NO_BROWSER !== undefined) throw new Error(NO_BROWSER);
  mkdirSync(DIRECTORY, { recursive: true });
  const browser = await launch();
  try {
    for (const look of LOOKS) await takeAll(browser, demo, look);
  } finally {
    await browser.close();
  }
}

const SHOTS: readonly Shot[] = [
  { name: 'services', address: '', settle: (page) => page.locator('.services li.firing').first().waitFor() },
  {
    name: 'service',
    address: '',
    settle: async (page) => {
      await page.getByRole('link', { name: new RegExp(STORIES[0]?.service ?? '') }).click();
      await page.locator('.bars .candidate').first().waitFor();
    },
  },
  { name: 'agents', address: '#/agents', settle: (page) => page.locator('.agents li').first().waitFor() },
  {
    name: 'agent',
    address: '#/agents',
    settle: async (page) => {
      await page.getByRole('link', { name: /node-01/ }).click();
      await page.getByText(/events, page 1/).waitFor();
    },
  },
  { name: 'alerts', address: '#/alerts', settle: (page) => page.locator('.alerts li').first().waitFor() },
  {
    name: 'alert',
    address: '#/alerts',
    settle: async (page) => {
      await page.getByRole('link', { name: new RegExp(STORIES[0]?.title ?? '') }).click();
      await page.locator('.candidates li').first().waitFor();
    },
  },
  {
    name: 'integrations',
    address: '#/integrations',
    settle: async (page) => {
      await page.locator('.sent summary').first().click();
      await page.locator('.cards .rows li').first().waitFor();
    },
  },
];

async function takeAll(browser: Browser, demo: Demo, look: Look): Promise<void> {
  const { colorScheme, width, height } = look;
  const page = await browser.newPage({ colorScheme, viewport: { width, height } });
  await page.goto(demo.url);
  await keep(page, `login-${look.look}`);
  await enter(page, demo.url, demo.readOnlyKey);
  for (const { name, address, settle } of SHOTS) {
    await page.goto(`${demo.url}/${address}`);
    await settle(page);
    await page.mouse.move(0, 0);
    await page.waitForTimeout(SETTLED_MS);
    await keep(page, `${name}-${look.look}`);
  }
  await page.close();
}

async function keep(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  for (const quality of QUALITIES) {
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality });
    const bytes = Buffer.from(data, 'base64');
    if (bytes.length > MAX_BYTES) continue;
    writeFileSync(join(DIRECTORY, `${name}.webp`), bytes);
    return session.detach();
  }
  throw new Error(`${name} does not come to less than ${MAX_BYTES} bytes`);
}
