/**
 * From physical lines to records. A csvlog record goes on over the next line while a quote is open. In the text log
 * a line that begins with a TAB continues the one before; it holds the rest of a message whose first line says
 * what happened, or SQL, so it is passed over, and a text record is complete at its first line: an event never
 * waits for the line after it. A jsonlog record is a line.
 */
import { MAX_LINE_LENGTH } from '../lines.ts';
import { beginsCsvlogRecord } from './csvlog.ts';

export interface Joined {
  /** The beginning of a csvlog record whose quotes are open; null between records. */
  readonly pending: string | null;
  /** The record that the line completed. */
  readonly record: string | null;
}

/**
 * Adds a line to what is pending. A record that is too long is taken as complete: its quote is closed, and what
 * follows of it is passed over, because it does not look like the beginning of anything. A record that was torn by
 * a crash of the machine is given up at the next line that cannot be inside its quotes; a line that a client wrote
 * into its SQL always can, since the server doubles its quotes, and so is never taken for a record.
 */
export function joinLine(pending: string | null, line: string): Joined {
  if (pending !== null) {
    const open = quoteAfter(line, true);
    if (open !== 'broken') return joined(`${pending}\n${line}`, open);
  }
  if (line.startsWith('\t')) return { pending: null, record: null };
  return joined(line, beginsCsvlogRecord(line) ? quoteAfter(line, false) : false);
}

function joined(text: string, open: boolean | 'broken'): Joined {
  if (open !== true) return { pending: null, record: text };
  if (text.length < MAX_LINE_LENGTH) return { pending: text, record: null };
  return { pending: null, record: `${text.slice(0, MAX_LINE_LENGTH)}"` };
}

/**
 * Whether a quote is open after the line, given whether one was before it. Broken where a quote stands neither at
 * the edge of a column nor doubled.
 */
function quoteAfter(line: string, openBefore: boolean): boolean | 'broken' {
  let open = openBefore;
  for (let at = line.indexOf('"'); at >= 0; at = line.indexOf('"', at + 1)) {
    const next = line[at + 1];
    if (!open && at > 0 && line[at - 1] !== ',') return 'broken';
    if (open && next === '"') at++;
    else if (open && next !== ',' && next !== undefined) return 'broken';
    else open = !open;
  }
  return open;
}
