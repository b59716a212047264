/** Readers of the stream, in a process of their own. */
import { resolve } from 'node:path';
import type { Foreshock } from '../servers/foreshock.ts';
import { type ServerProcess, startProcess } from '../servers/process.ts';

const PROCESS = resolve(import.meta.dirname, 'readers-process.ts');

/** Resolves once all of them are answered. They go when it is stopped; one that is cut off ends all. */
export function openReaders({ port, readOnlyKey }: Foreshock, count: number): Promise<ServerProcess> {
  return startProcess({
    command: process.execPath,
    args: [PROCESS, String(port), readOnlyKey, String(count)],
    ready: (output) => output.includes('all are open'),
  });
}

/** Does `work` with so many looking on. @throws Error where one of them was cut off */
export async function lookedOn<T>(server: Foreshock, count: number, work: () => Promise<T>): Promise<T> {
  const readers = await openReaders(server, count);
  try {
    const done = await work();
    if (readers.child.exitCode !== null) throw new Error(`a reader was cut off: ${readers.output}`);
    return done;
  } finally {
    await readers.stop();
  }
}
