/** What commands print: results on standard output, reasons on standard error. */
import { styleText } from 'node:util';
import Table from 'cli-table3';

const NO_LINES = {
  ...{
    top: '',
    'top-mid': '',
    'top-left': '',
    'top-right': '',
    left: '',
    'left-mid': '',
    mid: '',
    'mid-mid': '',
  },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '', right: '', 'right-mid': '' },
  middle: '  ',
};

import { withoutSecrets } from '../lib/redaction.ts';

/** A reader that has seen enough, such as `head`, ends the command; it is no failure. */
export function endQuietlyWithoutReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

export function printError(text: string): void {
  process.stderr.write(`${withoutSecrets(text)}\n`);
}

/** Whether somebody may be looking at standard error. */
export function errorIsTerminal(): boolean {
  return process.stderr.isTTY === true;
}

type Row = Readonly<Record<string, string | number | null>>;

/** One JSON object a line, or a table with a heading. */
export function printRows(rows: readonly Row[], asJson: boolean): void {
  if (asJson) {
    for (const row of rows) print(JSON.stringify(row));
    return;
  }
  const [first] = rows;
  if (first === undefined) {
    print('none');
    return;
  }
  const columns = Object.keys(first);
  const table = new Table({
    // Bold on a terminal alone, and not even there where NO_COLOR is set.
    head: columns.map((column) => styleText('bold', column, { stream: process.stdout })),
    chars: NO_LINES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  for (const row of rows) table.push(columns.map((column) => String(row[column] ?? '-')));
  for (const line of table.toString().split('\n')) print(line.trimEnd());
}
