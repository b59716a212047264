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
  expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
  expect(page.headers['cross-origin-opener-policy']).toBe('same-origin');
});

it('all it names is there, for ever, with its type', async () => {
  const paths = await assets();
  expect(paths.map((path) => path.split('/').at(-1)).sort()).toEqual(['icon.svg', 'main.js', 'style.css']);
  for (const path of paths) {
    const { status, headers } = await server.http.get(path);
    expect({ path, status }).toEqual({ path, status: 200 });
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['content-type']).toMatch(
      path.endsWith('.js') ? /^text\/javascript/ : /^(?:text\/css|image\/svg\+xml)/,
    );
  }
});

it('its code is one script, small, which imports nothing and is sent packed to whoever can read that', async () => {
  const [path = ''] = (await assets()).filter((each) => each.endsWith('.js'));
  const { text } = await server.http.get(path);
  expect(text).not.toMatch(/^import |\bimport\(/m);
  const packed = await fetch(`${server.process.url}${path}`, { headers: { 'Accept-Encoding': 'gzip' } });
  expect(packed.headers.get('content-encoding')).toBe('gzip');
  expect(packed.headers.get('vary')).toBe('Accept-Encoding');
  // 38 kB when this was written: what is added is to be worth it.
  expect(Number(packed.headers.get('content-length'))).toBeLessThan(48_000);
  expect(await packed.text()).toBe(text);
  const refused = { 'Accept-Encoding': 'gzip;q=0, br' };
  expect((await server.http.get(path, undefined, refused)).headers).not.toHaveProperty('content-encoding');
});

it('what a browser has already is not sent again', async () => {
  for (const path of ['/', ...(await assets()).slice(0, 2)]) {
    const { headers } = await server.http.get(path);
    const again = await server.http.get(path, undefined, { 'If-None-Match': headers['etag'] ?? '' });
    expect(again).toMatchObject({ status: 304, text: '', headers: { etag: headers['etag'] } });
    expect((await server.http.get(path, undefined, { 'If-None-Match': '"other"' })).status).toBe(200);
  }
});
