import { defineConfig } from 'vitest/config';

/** They mount, inject faults and take minutes: `npm run test:disks` runs them, on Linux and as root. */
const DISKS = ['clock', 'faults', 'full-disk', 'power-cut', 'stall', 'stop'].map(
  (name) => `test/crash/${name}.crash.ts`,
);
/** They run other people's servers: `npm run test:peers` runs them. */
const PEERS = ['test/peers/*.e2e.ts'];

const SUITES: Readonly<Record<string, readonly string[]>> = { disks: DISKS, peers: PEERS };
const suite = SUITES[process.env['FORESHOCK_TESTS'] ?? ''];

export const TAGS = [{ name: 'slow', description: 'so much work that mutation testing does without' }];

export default defineConfig({
  test: {
    include: [...(suite ?? ['test/**/*.{unit,prop,sim,crash,e2e}.ts'])],
    exclude: suite === undefined ? [...DISKS, ...PEERS] : [],
    tags: TAGS,
    // Servers, real kills and property tests share two cores: fewer workers keep their timings honest.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
