/** The one table that a run prints, in Markdown. */
import { figure } from './figure.ts';
import { judge, type Row } from './row.ts';

const VERDICTS = { aim: 'aim', least: 'least', missed: '**MISSED**' } as const;

export function table(rows: readonly Row[]): string {
  return [
    '| what | ours | peer | ratio | least | aim | reached |',
    '| --- | --: | --: | --: | --: | --: | --- |',
    ...rows.map((row) => `| ${cells(row).join(' | ')} |`),
  ].join('\n');
}

function cells(row: Row): string[] {
  const { ratio, better, verdict } = judge(row);
  const sign = better === 'higher' ? '≥' : '≤';
  const limit = (value: number) =>
    ratio === undefined ? `${sign} ${figure(value)} ${row.unit}` : `${sign} ${value}×`;
  return [
    row.what,
    `${figure(row.ours)} ${row.unit}${row.note === undefined ? '' : ` (${row.note})`}`,
    row.peer === undefined ? '' : `${figure(row.peer.figure)} (${row.peer.name})`,
    ratio === undefined ? '' : `${ratio.toFixed(2)}×`,
    limit(row.least),
    limit(row.aim),
    row.isDisturbed ? `${VERDICTS[verdict]}, disturbed` : VERDICTS[verdict],
  ];
}
