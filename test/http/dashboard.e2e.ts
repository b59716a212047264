/** What the page is made of, as it is served: cacheable for ever where it never changes, and under a strict policy. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestServer } from '../support/http.ts';

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

async function assets(): Promise<readonly string[]> {
  const { text } = await server.http.get('/');
  return [...new Set([...text.matchAll(/"(\/assets\/[^"]+)"/g)].map((match) => match[1] ?? ''))];
}

it('the page comes without a key, and is asked for anew each time', async () => {
  const page = await server.http.get('/');
  expect(page).toMatchObject({
    status: 200,
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' },
  });
  expect(page.text).not.toMatch(/<script(?![^>]*src=)|<style|style=|onclick=|https?:/);
  const policy = page.headers['content-security-policy'] ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
});

it('all it names is there, for ever, with its type', async () => {
  const paths = await assets();
  expect(paths.length).toBeGreaterThan(10);
  for (const path of paths) {
    const { status, headers } = await server.http.get(path);
    expect({ path, status }).toEqual({ path, status: 200 });
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['content-type']).toMatch(
      path.endsWith('.ts') ? /^text\/javascript/ : /^(?:text\/css|image\/svg\+xml)/,
    );
  }
});

it('modules have no types left in them, and import nothing from elsewhere', async () => {
  for (const path of (await assets()).filter((each) => each.endsWith('.ts'))) {
    const { text } = await server.http.get(path);
    expect(text).not.toMatch(/^(?:export )?(?:interface|type) /m);
    for (const [, specifier = ''] of text.matchAll(/^import .* from '([^']+)'/gm)) {
      expect({ path, specifier }).toEqual({ path, specifier: expect.stringMatching(/^\.\.?\//) });
      expect((await server.http.get(new URL(specifier, `http://x${path}`).pathname)).status).toBe(200);
    }
  }
});

it('what a browser has already is not sent again', async () => {
  for (const path of ['/', ...(await assets()).slice(0, 2)]) {
    const { headers } = await server.http.get(path);
    const again = await server.http.get(path, undefined, { 'If-None-Match': headers['etag'] ?? '' });
    expect(again).toMatchObject({ status: 304, text: '', headers: { etag: headers['etag'] } });
    expect((await server.http.get(path, undefined, { 'If-None-Match': '"other"' })).status).toBe(200);
  }
});
