/** The table under "Speed" in the README: some lines of the last benchmark. `npm run docs` writes it. */

const BEGIN = '<!-- From bench/results/latest.md, by `npm run docs`. -->\n';
const END = '<!-- End of what is from there. -->';

/** How the lines begin. */
const SHOWN = [
  'POST /v1/events, write: wrk -c 64 | ',
  'POST /v1/events, write: cost of a request | ',
  'POST /v1/events, fsync: wrk -c 256 | ',
  'POST /v1/events/batch, 1000 events each: wrk -c 8 | ',
  'GET /v1/services/{id}/context, 50 events: wrk -c 64 | ',
  'resident memory a live event, of 2,000,000 | ',
  'ingest at 20,000/s with 2,000,000 live events: p99 | ',
  'longest stall as 1,000,000 events expire within a second, ingest at 10,000/s | ',
];

/**
 * @param results the table of the last benchmark, as Markdown
 * @throws where the README has no place for it, or the benchmark no such line
 */
export function withSpeed(readme: string, results: string): string {
  const from = readme.indexOf(BEGIN);
  const to = readme.indexOf(END);
  if (from === -1 || to < from) throw new Error('the README has no place for the figures');
  const lines = results.split('\n');
  const rows = SHOWN.map((beginning) => {
    const line = lines.find((each) => each.startsWith(`| ${beginning}`));
    if (line === undefined) throw new Error(`the last benchmark has no line "${beginning}"`);
    const [what, ours, peer] = line.slice(2).split(' | ');
    return `| ${what} | ${ours} | ${peer?.trim()} |`;
  });
  const machine = lines.find((line) => line.startsWith('- ') && line.includes('processors'))?.slice(2) ?? '';
  const table = ['| | Foreshock | beside it |', '| --- | --: | --: |', ...rows].join('\n');
  return `${readme.slice(0, from)}${BEGIN}\n${table}\n\n${machine}\n\n${readme.slice(to)}`;
}
