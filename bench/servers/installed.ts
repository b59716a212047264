import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** True where a command can be found on PATH. */
export function isInstalled(command: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
