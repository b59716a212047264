/** Telling systemd that the service is ready, where systemd has started it and waits for that (sd_notify(3)). */
import { execFile } from 'node:child_process';

/** Node has no datagram sockets of the Unix kind; systemd's own tool has. */
export function tellReadiness(onTrouble: (error: Error) => void): void {
  if (process.env['NOTIFY_SOCKET'] === undefined) return;
  execFile('systemd-notify', ['--no-block', '--ready', `--pid=${process.pid}`], (error) => {
    if (error !== null) onTrouble(error);
  });
}
