import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.{unit,prop,sim,crash,e2e}.ts'],
    // Servers, real kills and property tests share two cores: fewer workers keep their timings honest.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
