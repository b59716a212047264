/**
 * `npm run bench` measures everything, `npm run bench -- ingest` one subject. What the figures say and do not
 * say is in bench/README.md. Exit code 1 where a ratio is under its least.
 */
import { cpus } from 'node:os';
import { type Row, SUBJECTS } from './subjects.ts';

const SECONDS = 5;
const ROUNDS = 3;

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !SUBJECTS.has(name));
if (unknown.length > 0) {
  process.stderr.write(`unknown: ${unknown.join(', ')}; there are: ${[...SUBJECTS.keys()].join(', ')}\n`);
  process.exit(2);
}

const rows: Row[] = [];
for (const [name, subject] of SUBJECTS) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stderr.write(`measuring ${name} …\n`);
  rows.push(...(await subject({ seconds: SECONDS, rounds: ROUNDS })));
}

const lines = [
  `${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, Node ${process.versions.node}`,
  '',
  '| what | ours | peer | ratio | least |',
  '| --- | --- | --- | --- | --- |',
  ...rows.map(({ what, unit, ours, peer, peerName, least }) => {
    const figure = (value: number) => Math.round(value).toLocaleString('en');
    const cells = [
      what,
      `${figure(ours)} ${unit}`,
      `${figure(peer)} (${peerName})`,
      (ours / peer).toFixed(2),
      least,
    ];
    return `| ${cells.join(' | ')} |`;
  }),
];
process.stdout.write(`${lines.join('\n')}\n`);
if (rows.some(({ ours, peer, least }) => ours / peer < least)) process.exitCode = 1;
