import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const TEST = join(import.meta.dirname, '..');

it('the checklist names tests that there are', () => {
  const text = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');
  const named = [...text.matchAll(/`([\w-]+\/[\w-]+\.[\w.]*ts)`/g)].map((match) => match[1] ?? '');
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((path) => !existsSync(join(TEST, path)))).toEqual([]);
});
