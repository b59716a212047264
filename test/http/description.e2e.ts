/** The description as it is served. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { description } from '../support/description.ts';
import { bodyOf, TestServer } from '../support/http.ts';

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

it('GET /openapi.json is the description, to everybody', async () => {
  const served = bodyOf<typeof description>(await server.http.get('/openapi.json'));
  expect(served.info.version).toMatch(/^\d+\.\d+\.\d+/);
  const info = { ...served.info, version: description.info.version };
  expect({ ...served, info }).toEqual(description);
});

it('GET /docs is a page whose policy lets nothing but its own styles pass', async () => {
  const { status, headers, text } = await server.http.get('/docs');
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  const styles = [...text.matchAll(/<style>([^<]*)<\/style>/g)].map(([, style]) => style ?? '');
  expect(styles).toHaveLength(1);
  const hash = createHash('sha256')
    .update(styles[0] ?? '')
    .digest('base64');
  expect(headers['content-security-policy']?.split('; ')).toEqual([
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(text).not.toContain(' style=');
});
