/** How many files and sockets the process may have open. */
import { readFileSync } from 'node:fs';

/** The soft limit, which Node has raised to the hard one as it began; undefined where it cannot be told or is none. */
export function openFileLimit(): number | undefined {
  try {
    const line = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    return line === null ? undefined : Number(line[1]);
  } catch {
    return undefined;
  }
}
