/** Diagnostics: JSON lines on standard error, so that standard output stays the operator's. */
import pino from 'pino';
import { withoutSecrets } from './redaction.ts';

export type Logger = pino.Logger;

/** Written synchronously: the line that says why the process ends must be out before it does. */
export function systemLogger(): Logger {
  const standardError = pino.destination({ dest: 2, sync: true });
  // Where nobody takes our words, as on a full disk, there is nobody to be told; the server goes on without them.
  standardError.on('error', () => {});
  return pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks: { streamWrite: withoutSecrets } },
    standardError,
  );
}
