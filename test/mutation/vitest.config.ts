/** The tests that are fast and in one process: mutation runs them by the thousand. */
import { defineConfig } from 'vitest/config';
import { TAGS } from '../../vitest.config.ts';

const tests = process.env['FORESHOCK_MUTATION_TESTS']?.split(' ') ?? [];

export default defineConfig({
  test: {
    include: tests.map((pattern) => `test/${pattern}.{unit,prop}.ts`),
    tags: TAGS.map((tag) => ({ ...tag, skip: true })),
    setupFiles: ['test/mutation/setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
