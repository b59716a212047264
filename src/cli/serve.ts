/** `foreshock serve` */
import { Command } from 'commander';
import { DURABILITIES, type Durability } from '../commands/durability.ts';
import { checkSettings, DEFAULTS, type Settings } from '../config.ts';
import { serviceIdOf, tenantId } from '../domain/ids.ts';
import { METRICS_ACCESSES, type MetricsAccess } from '../domain/metrics-access.ts';
import { systemClock } from '../lib/clock.ts';
import { nodeDisk } from '../lib/disk.ts';
import { systemEntropy } from '../lib/entropy.ts';
import { systemLogger } from '../lib/logger.ts';
import { eventLoop } from '../lib/scheduler.ts';
import type { AllowEntry } from '../outbound/allow-entry.ts';
import { type RunningServer, startServer } from '../server.ts';
import { addLimitFlags, type LimitSettings, limitSettings } from './limit-flags.ts';
import { allowEntries, durationSeconds, httpUrl, integer, nonEmpty, option } from './options.ts';
import { print } from './output.ts';
import { progressBar } from './progress.ts';
import { tellReadiness } from './readiness.ts';

interface ServeFlags extends LimitSettings {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly baseUrl?: string;
  readonly durability: Durability;
  readonly retention: number;
  readonly agentStaleAfter: number;
  readonly outboundAllow: readonly AllowEntry[];
  readonly pagerdutyApiUrl: string;
  readonly pagerdutyEventsUrl: string;
  readonly metrics: MetricsAccess;
  readonly maxStreams: number;
  readonly segmentBytes: number;
  readonly checkpointSegments: number;
}

const GIB = 1024 ** 3;

export function serveCommand(): Command {
  const command = new Command('serve')
    .description('run the server')
    .addOption(option('--host <address>', 'address to listen on').default(DEFAULTS.host).argParser(nonEmpty))
    .addOption(
      option('--port <number>', 'port to listen on; 0 picks a free one')
        .default(DEFAULTS.port)
        .argParser(integer(0, 65_535)),
    )
    .addOption(
      option('--data-dir <directory>', 'where everything is kept')
        .default(DEFAULTS.dataDirectory)
        .argParser(nonEmpty),
    )
    .addOption(
      option('--base-url <url>', 'what webhook URLs start with (default: the address listened on)').argParser(
        httpUrl,
      ),
    )
    .addOption(
      option('--durability <mode>', 'write: survives kill -9, a power cut loses 100 ms; fsync: loses nothing')
        .choices(DURABILITIES)
        .default(DEFAULTS.durability),
    )
    .addOption(
      option('--retention <duration>', "how long events stay in their agent's event log, at least 1h")
        .default(DEFAULTS.retentionSeconds, '24h')
        .argParser(durationSeconds),
    )
    .addOption(
      option('--agent-stale-after <duration>', 'an agent not seen for this long is stale')
        .default(DEFAULTS.agentStaleAfterSeconds, '120s')
        .argParser(durationSeconds),
    )
    .addOption(
      option(
        '--outbound-allow <entries>',
        'hosts, addresses or networks that integrations may call though they are not public',
      )
        .default(DEFAULTS.outboundAllow, 'public addresses only')
        .argParser(allowEntries),
    )
    .addOption(
      option('--pagerduty-api-url <url>', "PagerDuty's REST API: https://api.eu.pagerduty.com for the EU")
        .default(DEFAULTS.pagerdutyApiUrl)
        .argParser(httpUrl),
    )
    .addOption(
      option(
        '--pagerduty-events-url <url>',
        "PagerDuty's Events API: https://events.eu.pagerduty.com for the EU",
      )
        .default(DEFAULTS.pagerdutyEventsUrl)
        .argParser(httpUrl),
    )
    .addOption(
      option('--metrics <who>', 'who may read /metrics without a key: programs of this machine, or')
        .choices(METRICS_ACCESSES)
        .default(DEFAULTS.metrics),
    )
    .addOption(
      option('--max-streams <number>', 'readers of the stream at the same time')
        .default(DEFAULTS.maxStreams)
        .argParser(integer(0, 100_000)),
    )
    .addOption(
      option('--segment-bytes <number>', 'size at which a log segment is sealed')
        .default(DEFAULTS.segmentBytes)
        .argParser(integer(4096, 4 * GIB - 1)),
    )
    .addOption(
      option('--checkpoint-segments <number>', 'segments sealed since the last checkpoint that call for one')
        .default(DEFAULTS.checkpointSegments)
        .argParser(integer(1, 10_000)),
    );
  return addLimitFlags(command)
    .addHelpText(
      'after',
      '\nEvery flag can be given as an environment variable: FORESHOCK_PORT, FORESHOCK_DATA_DIR …' +
        '\n\nExamples:\n  foreshock serve --port 9000 --data-dir /var/lib/foreshock --durability fsync\n',
    )
    .action((flags: ServeFlags, command: Command) => {
      const settings = settingsOf(flags);
      try {
        checkSettings(settings);
      } catch (error) {
        if (error instanceof RangeError) command.error(`error: ${error.message}`);
        throw error;
      }
      return serve(settings);
    });
}

function settingsOf(flags: ServeFlags): Settings {
  return {
    ...limitSettings(flags),
    host: flags.host,
    port: flags.port,
    dataDirectory: flags.dataDir,
    baseUrl: flags.baseUrl ?? null,
    durability: flags.durability,
    retentionSeconds: flags.retention,
    agentStaleAfterSeconds: flags.agentStaleAfter,
    outboundAllow: flags.outboundAllow,
    pagerdutyApiUrl: flags.pagerdutyApiUrl,
    pagerdutyEventsUrl: flags.pagerdutyEventsUrl,
    metrics: flags.metrics,
    maxStreams: flags.maxStreams,
    segmentBytes: flags.segmentBytes,
    checkpointSegments: flags.checkpointSegments,
  };
}

async function serve(settings: Settings): Promise<void> {
  const logger = systemLogger();
  const onFatal = (error: Error) => {
    logger.fatal({ err: error }, 'ending the process; what the log holds is what happened');
    process.exit(1);
  };
  // As a line of the log, like all that ends the process: Node would print the source beside it.
  process.on('uncaughtException', onFatal);
  let server: RunningServer | undefined;
  let stopping = false;
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
  print(welcome(server, settings));
  tellReadiness((error) =>
    logger.warn({ err: error }, 'systemd could not be told that the service is ready'),
  );
}

function shutdownText(clean: boolean): string {
  return clean
    ? 'the last shutdown was clean'
    : 'the last shutdown was not clean: the log was checked to its end';
}

function welcome(server: RunningServer, settings: Settings): string {
  const { baseUrl, firstKeys, replayed, cleanShutdown, port } = server;
  const local = `http://${settings.host.includes(':') ? `[${settings.host}]` : settings.host}:${port}`;
  const lines = [
    `Foreshock listens on ${local}`,
    `data in ${settings.dataDirectory}, durability ${settings.durability}, ${replayed} commands replayed`,
    ...(firstKeys === undefined ? [shutdownText(cleanShutdown)] : []),
  ];
  if (baseUrl !== local) lines.push(`webhook URLs start with ${baseUrl}`);
  else if (/^(?:0\.0\.0\.0|::)$/.test(settings.host)) {
    lines.push('nobody can reach a webhook URL of this address: give the one they can as --base-url');
  }
  if (firstKeys === undefined) return lines.join('\n');

  const service = 'checkout-api';
  const serviceId = serviceIdOf(tenantId(firstKeys.tenantId), service);
  const event = {
    service_name: service,
    vendor: 'argocd',
    entity: service,
    event_type: 'deploy',
    old_value: 'v41',
    new_value: 'v42',
    confidence: 0.95,
    ttl_seconds: 3600,
  };
  const curl = (key: string, path: string, body?: object) => {
    const auth = `-H 'Authorization: Bearer ${key}'`;
    if (body === undefined) return `  curl -sS ${local}${path} ${auth}`;
    return `  curl -sS ${local}${path} ${auth} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  };
  return [
    ...lines,
    '',
    `The data directory is new. Tenant "${firstKeys.tenant}" was made with these keys, shown this once:`,
    `  ingest key     ${firstKeys.ingest}`,
    `  read-only key  ${firstKeys.readOnly}`,
    '',
    'Register an agent, send an event, and see what changed:',
    curl(firstKeys.ingest, '/v1/agents/register', { hostname: 'my-host' }),
    curl(firstKeys.ingest, '/v1/events', event),
    curl(firstKeys.readOnly, `/v1/services/${serviceId}/context`),
    '',
  ].join('\n');
}
