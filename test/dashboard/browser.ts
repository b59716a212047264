/** Headless Chromium, as Debian has it, and the page in it. */
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
);

/** Why there is no browser here; undefined where there is one. */
export const NO_BROWSER = CHROMIUM === undefined ? 'no Chromium here: apt install chromium' : undefined;

export async function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] });
}

/** A page, and what it complained of: broken code, and what its Content-Security-Policy kept from it. */
export interface Opened {
  readonly page: Page;
  readonly complaints: readonly string[];
}

export async function openPage(
  browser: Browser,
  options: Parameters<Browser['newPage']>[0] = {},
): Promise<Opened> {
  const page = await browser.newPage(options);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // That a request failed is said by the browser itself, and is the point of some tests.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      complaints.push(message.text());
    }
  });
  return { page, complaints };
}

/** A page that has been let in, and shows what is so. */
export async function openLive(
  browser: Browser,
  url: string,
  key: string,
  options: Parameters<Browser['newPage']>[0] = {},
): Promise<Opened> {
  const opened = await openPage(browser, options);
  opened.page.setDefaultTimeout(10_000);
  await enter(opened.page, url, key);
  await opened.page.getByText('Live', { exact: true }).waitFor();
  return opened;
}

/** Enters a key, at an address of the page. */
export async function enter(page: Page, url: string, key: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Read-only key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
}
