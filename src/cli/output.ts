/** What commands print: results on standard output, reasons on standard error. */
import { styleText } from 'node:util';
import { withoutSecrets } from '../lib/redaction.ts';
import { onOneLine } from '../lib/text.ts';

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
  // Names are their givers' to choose, and a terminal obeys what it is shown.
  const textIn = (row: Row, column: string) => onOneLine(String(row[column] ?? '-'));
  const cells = [columns, ...rows.map((row) => columns.map((column) => textIn(row, column)))];
  const widths = columns.map((_, index) =>
    cells.reduce((most, line) => Math.max(most, line[index]?.length ?? 0), 0),
  );
  const [head = '', ...lines] = cells.map((line) =>
    line
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  // Bold on a terminal alone, and not even there where NO_COLOR is set.
  print([styleText('bold', head, { stream: process.stdout }), ...lines].join('\n'));
}
