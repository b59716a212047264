/** All tests, run by Node itself: what it covers is then known by places in the source, in every process alike. */
import { mergeConfig } from 'vitest/config';
import suites from '../../vitest.config.ts';

export default mergeConfig(suites, {
  test: {
    experimental: { viteModuleRunner: false },
    setupFiles: ['test/coverage/setup.ts'],
    // Counting costs time, and servers wait for one another.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
