/** `node test/sim/main.ts --seeds 1000 [--from 1]`, or `--seed 17` to see one again with all that happened. */
import { parseArgs } from 'node:util';
import { SimulationFailure, type Statistics, simulate } from './simulation.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    /** Goes on after so many failures. */
    failures: { type: 'string', default: '1' },
  },
});

const only = values.seed === undefined ? undefined : Number(values.seed);
const first = only ?? Number(values.from);
const last = only ?? first + Number(values.seeds) - 1;
const startedAtMs = performance.now();
let passed = 0;
let failed = 0;
const totals: Record<string, number> = {};

process.on('unhandledRejection', (error) => {
  console.error(`seed ${first + passed + failed}: a promise that nobody waits for was rejected:`, error);
  process.exit(1);
});

for (let seed = first; seed <= last && failed < Number(values.failures); seed += 1) {
  try {
    add(await simulate(seed));
    passed += 1;
  } catch (error) {
    failed += 1;
    report(seed, error);
  }
  if ((passed + failed) % 1000 === 0) progress();
}
progress();
console.log(
  Object.entries(totals)
    .map(([name, total]) => `${name} ${total}`)
    .join(', '),
);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

function add({ seed, hash, ...counts }: Statistics): void {
  for (const [name, count] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + count;
}

function progress(): void {
  const seconds = (performance.now() - startedAtMs) / 1000;
  const rate = ((passed + failed) / seconds).toFixed(0);
  console.log(`${passed + failed} seeds in ${seconds.toFixed(1)} s, ${rate} seeds/s`);
}

function report(seed: number, error: unknown): void {
  if (!(error instanceof SimulationFailure)) {
    console.log(`seed ${seed}:`, error);
    return;
  }
  if (only !== undefined) console.log(error.trace.join('\n'));
  console.log(`seed ${seed}, step ${error.step}: ${error.message}`);
  console.log(`  see it again: node test/sim/main.ts --seed ${seed}`);
}
