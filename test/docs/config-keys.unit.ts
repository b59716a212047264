/** Every key of an integration's config that means something to us stands in the README. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { integrationUpdateSchema } from '../../src/http/schemas.ts';

const README = readFileSync(resolve(import.meta.dirname, '../../README.md'), 'utf8');
const alerts = README.slice(README.indexOf('\n## Alerts'), README.indexOf('\n## Tenants and keys'));

it.each(Object.keys(integrationUpdateSchema.shape.config.shape))('the README tells of %s', (name) => {
  expect(alerts).toContain(`\`${name}\``);
});
