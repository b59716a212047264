/** `foreshock serve` */
import { Command } from 'commander';
import type { Settings } from '../config.ts';
import { systemClock } from '../lib/clock.ts';
import { allocateYoung } from '../lib/collector.ts';
import { nodeDisk } from '../lib/disk.ts';
import { systemEntropy } from '../lib/entropy.ts';
import { systemLogger } from '../lib/logger.ts';
import { eventLoop } from '../lib/scheduler.ts';
import { type RunningServer, startServer } from '../server.ts';
import { withExamples } from './examples.ts';
import { errorIsTerminal, print } from './output.ts';
import { progressBar } from './progress.ts';
import { tellReadiness } from './readiness.ts';
import { addSettings, effectiveSettings } from './settings/effective.ts';
import { refusedAsUsage } from './settings/problem.ts';
import { misspelledVariables } from './settings/variables.ts';
import { welcome } from './welcome.ts';

export function serveCommand(): Command {
  const command = addSettings(new Command('serve').description('run the server')).addHelpText(
    'after',
    '\nEvery flag can be given as an environment variable (FORESHOCK_PORT, FORESHOCK_DATA_DIR …) and as a line of the' +
      '\nconfiguration file (port: 9000). A flag wins over its variable, and that over the file.',
  );
  return withExamples(
    command,
    ['foreshock serve --port 9000 --data-dir /var/lib/foreshock --durability fsync'],
    ['foreshock serve --config /etc/foreshock.yaml'],
  ).action((_flags: object, command: Command) =>
    serve(
      refusedAsUsage(command, () => effectiveSettings(command)).settings,
      misspelledVariables(command, process.env),
    ),
  );
}

async function serve(settings: Settings, warnings: readonly string[]): Promise<void> {
  allocateYoung();
  const logger = systemLogger();
  for (const warning of warnings) logger.warn(warning);
  const onFatal = (error: Error) => {
    logger.fatal({ err: error }, 'ending the process; what the log holds is what happened');
    process.exit(1);
  };
  // As a line of the log, like all that ends the process: Node would print the source beside it.
  process.on('uncaughtException', onFatal);
  let server: RunningServer | undefined;
  let stopping = false;
  let reloadOnceStarted = false;
  const stop = (signal: string) => {
    // Nothing has been promised to anybody before it serves.
    if (server === undefined) process.exit(0);
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, 'stopping');
    server.stop().then(() => logger.info('stopped'), onFatal);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // Of a terminal that is gone, unless there is something that this could mean to a server.
  process.on('SIGHUP', () => {
    if (settings.tlsCert === null && errorIsTerminal()) stop('SIGHUP');
    else if (server === undefined) reloadOnceStarted = true;
    else server.reloadCertificate();
  });

  const bar = progressBar('replaying the log');
  server = await startServer(settings, {
    disk: nodeDisk,
    clock: systemClock,
    scheduler: eventLoop,
    entropy: systemEntropy,
    logger,
    onFatal,
    onProgress: bar.update,
  });
  bar.stop();
  // It serves already with what it read before it replayed.
  if (reloadOnceStarted) server.reloadCertificate();
  print(welcome(server, settings));
  tellReadiness((error) =>
    logger.warn({ err: error }, 'systemd could not be told that the service is ready'),
  );
}
