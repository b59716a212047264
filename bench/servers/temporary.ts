import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'foreshock-bench-'));
}

/** How to stop a server and leave nothing of what it wrote. */
export function stopAndRemove(server: { stop(): Promise<void> }, directory: string): () => Promise<void> {
  return async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  };
}
