/** The API's description: all of the routes and nothing else, a valid document, examples that are true. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeApi, type Node, OPERATIONS } from '../../src/http/openapi.ts';
import { referencePage } from '../../src/http/reference-page.ts';
import { description, expectDescribed, schemaAt, tableOfRoutes } from '../support/description.ts';

const table = tableOfRoutes();
const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

describe('the description', () => {
  it('describes every route of the table, and nothing else', () => {
    const routed = table.map(({ method, path }) => `${method} ${path}`).sort();
    expect(Object.keys(OPERATIONS).sort()).toEqual(routed);
    const described = operations.map(
      ({ path, method }) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    );
    expect(described.sort()).toEqual(routed);
  });

  it('cannot be made of a route that nobody has described', () => {
    const unknown = { method: 'GET', path: '/v1/unknown', access: 'public', body: 'none' } as const;
    expect(() => describeApi([...table, unknown], '1')).toThrow('GET /v1/unknown is not described');
  });

  it('names each operation once, and has no schema that none of them needs', () => {
    const ids = operations.map(({ operation }) => operation['operationId']);
    expect(new Set(ids).size).toBe(ids.length);
    const text = JSON.stringify(description);
    for (const name of Object.keys(description.components['schemas'] ?? {})) {
      expect(text).toContain(`"#/components/schemas/${name}"`);
    }
  });

  it('says which keys a route takes, and 401 and 403 where it takes one', () => {
    for (const { path, method, access } of table) {
      const operation = description.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      const schemes = {
        ingest: [{ ingestKey: [] }],
        'read-only': [{ readOnlyKey: [] }],
        'any-key': [{ ingestKey: [] }, { readOnlyKey: [] }],
        'webhook-token': [],
        public: [],
      };
      expect(operation?.['security']).toEqual(schemes[access]);
      const statuses = Object.keys(Object(operation?.['responses']));
      expect(statuses.includes('401')).toBe(access !== 'public');
      expect(statuses.includes('403')).toBe(access !== 'public' && access !== 'any-key');
    }
  });

  it.each(examples())('has an example that is true: $place', ({ place, value }) => {
    const validate = schemaAt(...place.slice(0, -1), 'schema');
    expect([validate(value), validate.errors]).toEqual([true, null]);
  });

  it('is found to be false by an answer that is not as described', () => {
    const headers = { 'x-request-id': 'r', 'content-type': 'application/json', 'cache-control': 'no-store' };
    const answer = { status: 200, headers, text: '{"status":"alive"}' };
    const seen = { method: 'GET', path: '/healthz', answer };
    expect(expectDescribed(seen)).toBe(answer);
    const { 'x-request-id': _, ...noId } = headers;
    const wrong = [
      { ...answer, text: '{"status":"dead"}' },
      { ...answer, text: '{"status":"alive","more":1}' },
      { ...answer, text: '{}' },
      { ...answer, status: 404 },
      { ...answer, headers: noId },
      { ...answer, headers: { ...headers, 'x-more': '1' } },
      { ...answer, headers: { ...headers, 'content-type': 'text/plain' } },
      { ...answer, headers: { ...headers, 'cache-control': 'public' } },
    ];
    for (const each of wrong) {
      expect(() => expectDescribed({ ...seen, answer: each })).toThrow('not as described');
    }
  });
});

/** Every example, with its place in the description: beside the schema that it is of. */
function examples(): { place: readonly string[]; value: unknown }[] {
  const found: { place: readonly string[]; value: unknown }[] = [];
  const look = (node: unknown, place: readonly string[]): void => {
    if (typeof node !== 'object' || node === null) return;
    const { example, examples: several, schema }: Node = { ...node };
    if (schema !== undefined) {
      const all = [example, ...Object.values(Object(several)).map((each) => Object(each).value)];
      for (const value of all) if (value !== undefined) found.push({ place: [...place, 'example'], value });
    }
    for (const [key, inner] of Object.entries(node)) {
      if (key !== 'example' && key !== 'examples') look(inner, [...place, key]);
    }
  };
  look(description.paths, ['paths']);
  look(description.components, ['components']);
  return found;
}

const redocly = resolve(import.meta.dirname, '../../node_modules/@redocly/cli/bin/cli.js');

describe('Redocly', () => {
  it.skipIf(!existsSync(redocly))('finds nothing to complain about', () => {
    const directory = mkdtempSync(join(tmpdir(), 'foreshock-lint-'));
    try {
      writeFileSync(join(directory, 'openapi.json'), JSON.stringify(description));
      // Requests that nobody can get wrong need no 4xx; the answers of what is no route are of no operation.
      const rules = { 'operation-4xx-response': 'off', 'no-unused-components': 'off' };
      writeFileSync(
        join(directory, 'redocly.yaml'),
        JSON.stringify({ extends: ['recommended-strict'], rules }),
      );
      const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
      const { status, stdout, stderr } = spawnSync(process.execPath, [redocly, 'lint', 'openapi.json'], {
        cwd: directory,
        env,
        encoding: 'utf8',
      });
      expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

describe('the reference page', () => {
  const html = referencePage(description);

  it('shows every operation and every schema, and links nowhere that is not there', () => {
    for (const { path, operation } of operations) {
      expect(html).toContain(`id="${operation['operationId']}"`);
      expect(html).toContain(`<span class="path">${path}</span>`);
    }
    const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const links = [...html.matchAll(/ href="([^"]+)"/g)].map(([, href]) => href ?? '');
    expect(links.filter((href) => !ids.has(href.slice(1)))).toEqual(['/openapi.json']);
  });

  it('runs nothing, loads nothing, and takes no text for markup', () => {
    expect(html).not.toMatch(/<script|<link|<img|<iframe|javascript:|\son\w+=|@import|url\(/);
    const title = '<script>alert("x")</script>';
    const hostile = referencePage({ ...description, info: { ...description.info, title } });
    expect(hostile).not.toContain('<script>');
  });
});
