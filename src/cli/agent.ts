/** `foreshock agent`: a reference agent beside a tool's log. */
import { Command } from 'commander';
import { postgresql } from '../agent/postgresql/plugin.ts';
import { type AgentNotice, type AgentReport, runAgent } from '../agent/run.ts';
import { ForeshockClient } from '../client/client.ts';
import { withExamples } from './examples.ts';
import { httpUrl, integer, nonEmpty, option } from './options.ts';
import { print, printError } from './output.ts';

const PLUGINS = { postgresql } as const;
type PluginName = keyof typeof PLUGINS;

interface AgentFlags {
  readonly plugin: PluginName;
  readonly file: string;
  readonly server: string;
  readonly key: string;
  readonly service?: string;
  readonly hostname?: string;
  readonly name?: string;
  readonly follow?: boolean;
  readonly fromEnd?: boolean;
  readonly heartbeat: number;
  readonly json?: boolean;
}

export function agentCommand(version: string): Command {
  const command = new Command('agent')
    .description("read a tool's log and send what it says as events")
    .addOption(
      option('--plugin <name>', 'the tool whose log it is')
        .choices(Object.keys(PLUGINS))
        .makeOptionMandatory(),
    )
    .addOption(option('--file <path>', 'the log').makeOptionMandatory())
    .addOption(
      option('--server <url>', 'the Foreshock server').default('http://127.0.0.1:8080').argParser(httpUrl),
    )
    .addOption(
      option(
        '--key <key>',
        'an ingest key; better given as FORESHOCK_KEY, which ps does not show',
      ).makeOptionMandatory(),
    )
    .addOption(
      option('--service <name>', "the service the log is of (default: the plugin's name)").argParser(
        nonEmpty,
      ),
    )
    .addOption(option('--hostname <name>', "the machine's name (default: as the system says)"))
    .addOption(option('--name <name>', 'what the agent is called (default: the hostname)'))
    .option('--follow', 'go on with what is appended, like tail -F')
    .option('--from-end', 'begin at the end of the file')
    .addOption(
      option('--heartbeat <seconds>', 'heartbeat after so long without events')
        .default(30)
        .argParser(integer(1, 3600)),
    )
    .option('--json', 'print each event and the report as JSON')
    .action((flags: AgentFlags) => run(flags, version));
  return withExamples(command, [
    'FORESHOCK_KEY=fsk_ing_… foreshock agent --plugin postgresql --file postgresql.log --service orders-db --follow',
  ]);
}

async function run(flags: AgentFlags, version: string): Promise<void> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  process.once('SIGTERM', () => stop.abort());
  const report = await runAgent(
    {
      file: flags.file,
      serviceName: flags.service ?? flags.plugin,
      follow: flags.follow === true,
      from: flags.fromEnd === true ? 'end' : 'start',
      ...(flags.hostname === undefined ? {} : { hostname: flags.hostname }),
      ...(flags.name === undefined ? {} : { name: flags.name }),
      version,
      heartbeatSeconds: flags.heartbeat,
      signal: stop.signal,
    },
    {
      client: new ForeshockClient({ baseUrl: flags.server, apiKey: flags.key }),
      plugin: PLUGINS[flags.plugin],
      onReport: (notice) => tell(notice, flags.json === true),
    },
  );
  print(flags.json === true ? JSON.stringify(report) : summary(report));
  // Somebody waits for these events: that some did not arrive is a failure.
  if (report.rejected + report.dropped + report.unsent > 0) process.exitCode = 1;
}

function tell(notice: AgentNotice, asJson: boolean): void {
  switch (notice.type) {
    case 'registered':
      printError(`registered as agent ${notice.agentId}`);
      break;
    case 'sent': {
      const { event_type, entity, old_value, new_value } = notice.event;
      const change = [old_value, new_value].filter((value) => value != null).join(' → ');
      print(
        asJson
          ? JSON.stringify(notice.event)
          : `${event_type.padEnd(18)} ${entity}${change && `: ${change}`}`,
      );
      break;
    }
    case 'rejected':
      printError(`the server refused an event: ${notice.detail}`);
      break;
    case 'dropped':
      printError('an event was dropped: the server has been away for too long');
      break;
    case 'server-away':
      printError(`the server is away: ${notice.detail}`);
      break;
    case 'server-back':
      printError('the server is back');
      break;
    case 'found':
      break;
  }
}

function summary({ linesRead, sent, rejected, dropped, unsent }: AgentReport): string {
  const rest = [
    [rejected, 'rejected'],
    [dropped, 'dropped'],
    [unsent, 'unsent'],
  ] as const;
  const others = rest.filter(([count]) => count > 0).map(([count, what]) => `, ${count} ${what}`);
  return `${linesRead} lines read, ${sent} events sent${others.join('')}`;
}
