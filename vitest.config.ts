import { defineConfig } from 'vitest/config';

/** They mount, inject faults and take minutes: `npm run test:disks` runs them, on Linux and as root. */
const DISKS = ['clock', 'faults', 'full-disk', 'power-cut', 'stall', 'stop'].map(
  (name) => `test/crash/${name}.crash.ts`,
);
const onlyDisks = process.env['FORESHOCK_TESTS'] === 'disks';

export default defineConfig({
  test: {
    include: onlyDisks ? DISKS : ['test/**/*.{unit,prop,sim,crash,e2e}.ts'],
    exclude: onlyDisks ? [] : DISKS,
    // Servers, real kills and property tests share two cores: fewer workers keep their timings honest.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
