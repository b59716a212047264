/** Prometheus Alertmanager, alone and with a receiver that does nothing. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInstalled } from '../servers/installed.ts';
import { freePort, startProcess } from '../servers/process.ts';
import { stopAndRemove, temporaryDirectory } from '../servers/temporary.ts';
import type { Peer } from './peer.ts';

const COMMAND = 'prometheus-alertmanager';

export const ALERTMANAGER_MISSING = isInstalled(COMMAND)
  ? undefined
  : `${COMMAND} is not installed: apt-get install prometheus-alertmanager`;

const CONFIGURATION = 'route:\n  receiver: nobody\nreceivers:\n  - name: nobody\n';

/** @param cores that it may use; all of them where it is not said */
export async function startAlertmanager({ cores }: { readonly cores?: number } = {}): Promise<Peer> {
  const directory = temporaryDirectory();
  const configuration = join(directory, 'alertmanager.yml');
  writeFileSync(configuration, CONFIGURATION);
  const port = await freePort();
  const server = await startProcess({
    command: COMMAND,
    args: [
      `--config.file=${configuration}`,
      `--storage.path=${directory}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--cluster.listen-address=',
    ],
    env: cores === undefined ? {} : { GOMAXPROCS: String(cores) },
    ready: () =>
      fetch(`http://127.0.0.1:${port}/-/ready`).then(
        (answer) => answer.ok,
        () => false,
      ),
  });
  return { port, pid: server.pid, stop: stopAndRemove(server, directory) };
}

/** A POST of one alert, of so many bytes as the event that ours is sent. */
export function alertBody(bytes: number): string {
  const alert = (padding: string) =>
    JSON.stringify([
      {
        labels: {
          alertname: 'HighErrorRate',
          service: 'checkout-api',
          severity: 'critical',
          pod: 'checkout-api-7d4f9c-2xk8p',
        },
        annotations: { summary: 'Error rate is over 5 %', description: padding },
        generatorURL: 'http://prometheus.example/graph',
      },
    ]);
  return alert('.'.repeat(bytes - alert('').length));
}
