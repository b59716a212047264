/** What the server is doing, as those are told who ask before it is ready or while it stops. */
import { type Rejection, unavailable } from './domain/rejection.ts';
import type { ReplayProgress } from './log/replay.ts';

type Phase =
  | { readonly type: 'starting'; readonly progress: ReplayProgress | undefined }
  | { readonly type: 'serving' }
  | { readonly type: 'stopping' };

export class Lifecycle {
  #phase: Phase = { type: 'starting', progress: undefined };

  replaying(progress: ReplayProgress): void {
    this.#phase = { type: 'starting', progress };
  }

  serving(): void {
    this.#phase = { type: 'serving' };
  }

  stopping(): void {
    this.#phase = { type: 'stopping' };
  }

  /** Why no request is taken just now, or undefined where they are. */
  unavailable(): Rejection | undefined {
    const phase = this.#phase;
    if (phase.type === 'serving') return undefined;
    if (phase.type === 'stopping') return unavailable('the server is shutting down');
    return unavailable(`the server is starting${progressText(phase.progress)}`);
  }
}

function progressText(progress: ReplayProgress | undefined): string {
  if (progress === undefined || progress.totalBytes === 0) return '';
  const percent = Math.floor((100 * progress.doneBytes) / progress.totalBytes);
  return `: ${percent} % of the log replayed, ${progress.commands} commands so far`;
}
