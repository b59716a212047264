/**
 * The settings of the server, one line each. The flags of `serve` and `config check`, the environment variables, the
 * keys of the configuration file, the help, the example file and the checks are all made from this table: `port` is
 * `--port`, `FORESHOCK_PORT` and `port:`. Defaults stand in `config.ts`.
 */
import { DURABILITIES } from '../../commands/durability.ts';
import { DEFAULTS, type Settings } from '../../config.ts';
import { METRICS_ACCESSES } from '../../domain/metrics-access.ts';
import {
  ALLOW_ENTRIES,
  DURATION,
  FILE_MODE,
  integerFrom,
  oneOf,
  optional,
  PORT,
  TEXT,
  TRUSTED_PROXIES,
  URL_TEXT,
  type ValueType,
} from './value-type.ts';

export interface Setting<T> {
  /** Of the flag, without its dashes, and of the key in the file. */
  readonly name: string;
  /** What stands for the value in the help, where it is not what its type says. */
  readonly placeholder?: string;
  readonly help: string;
  readonly type: ValueType<T>;
  /** The default in words, where its value says little. */
  readonly defaultText?: string;
  /** For a setting without a default. */
  readonly example?: string;
}

/** A setting is there because `Settings` has it: one that is missing here does not compile. */
export type SettingsTable = { readonly [K in keyof Settings]: Setting<Settings[K]> };

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

const BODY_BYTES = integerFrom(KIB, 16 * MIB);
const RATE = integerFrom(0, 10_000_000);
const NO_LIMIT = 'as many as come';

export const SETTINGS: SettingsTable = {
  host: { name: 'host', placeholder: 'address', help: 'address to listen on', type: TEXT },
  port: {
    name: 'port',
    help: 'port to listen on; 0 picks a free one, none opens none, as --socket without --host and --port does',
    type: PORT,
  },
  socket: {
    name: 'socket',
    placeholder: 'path',
    help: 'unix socket to listen on; with --host or --port beside the port, else instead of it',
    type: optional(TEXT),
    defaultText: 'the port alone',
    example: '/run/foreshock/http.sock',
  },
  socketMode: {
    name: 'socket-mode',
    help: 'who may connect to the socket: who may write to it',
    type: FILE_MODE,
  },
  tlsCert: {
    name: 'tls-cert',
    placeholder: 'file',
    help: 'certificate to serve HTTPS with, in PEM, with those that lead to its authority; read again on SIGHUP',
    type: optional(TEXT),
    defaultText: 'plain HTTP',
    example: '/etc/foreshock/fullchain.pem',
  },
  tlsKey: {
    name: 'tls-key',
    placeholder: 'file',
    help: 'key of the certificate, in PEM, without a passphrase',
    type: optional(TEXT),
    defaultText: 'plain HTTP',
    example: '/etc/foreshock/privkey.pem',
  },
  dataDirectory: {
    name: 'data-dir',
    placeholder: 'directory',
    help: 'where everything is kept',
    type: TEXT,
  },
  baseUrl: {
    name: 'base-url',
    help: 'what webhook URLs start with',
    type: optional(URL_TEXT),
    defaultText: 'the address listened on',
    example: 'https://foreshock.example.com',
  },
  trustProxy: {
    name: 'trust-proxy',
    help: 'addresses and networks of proxies whose X-Forwarded-For is believed; unix: whoever may open the socket',
    type: TRUSTED_PROXIES,
    defaultText: 'nobody',
    example: '10.0.0.7,fd00::/8',
  },
  durability: {
    name: 'durability',
    placeholder: 'mode',
    help: 'write: survives kill -9, a power cut loses 100 ms; fsync: loses nothing',
    type: oneOf(DURABILITIES),
  },
  retentionSeconds: {
    name: 'retention',
    help: "how long events stay in their agent's event log, at least 1h",
    type: DURATION,
  },
  agentStaleAfterSeconds: {
    name: 'agent-stale-after',
    help: 'an agent not seen for this long is stale',
    type: DURATION,
  },
  outboundAllow: {
    name: 'outbound-allow',
    help: 'hosts, addresses or networks that integrations may call though they are not public',
    type: ALLOW_ENTRIES,
    defaultText: 'public addresses only',
    example: 'alerts.internal:9093,10.0.0.0/8',
  },
  pagerdutyApiUrl: {
    name: 'pagerduty-api-url',
    help: "PagerDuty's REST API: https://api.eu.pagerduty.com for the EU",
    type: URL_TEXT,
  },
  pagerdutyEventsUrl: {
    name: 'pagerduty-events-url',
    help: "PagerDuty's Events API: https://events.eu.pagerduty.com for the EU",
    type: URL_TEXT,
  },
  metrics: {
    name: 'metrics',
    placeholder: 'who',
    help: 'who may read /metrics without a key: programs of this machine, or everybody, or nobody',
    type: oneOf(METRICS_ACCESSES),
  },
  maxStreams: {
    name: 'max-streams',
    help: 'readers of the stream at the same time',
    type: integerFrom(0, 100_000),
  },
  maxStreamsTenant: {
    name: 'max-streams-tenant',
    help: 'readers of the stream of one tenant',
    type: integerFrom(0, 100_000),
  },
  segmentBytes: {
    name: 'segment-bytes',
    help: 'size at which a log segment is sealed',
    type: integerFrom(4096, 4 * GIB - 1),
  },
  logRoomBytes: {
    name: 'log-room-bytes',
    help: "how far the log's file is made longer ahead of what is written with durability write, which then takes no system call a request; 0: not at all",
    type: integerFrom(0, 64 * MIB),
  },
  checkpointSegments: {
    name: 'checkpoint-segments',
    help: 'segments sealed since the last checkpoint that call for one, once they hold as much as it does',
    type: integerFrom(1, 10_000),
  },
  windowMaxEvents: {
    name: 'window-max-events',
    help: 'live events a service holds at most',
    type: integerFrom(1, 10_000_000),
  },
  windowMaxBytes: {
    name: 'window-max-bytes',
    help: 'bytes of live events a service holds at most',
    type: integerFrom(64 * KIB, GIB),
  },
  maxBodyBytes: {
    name: 'max-body-bytes',
    help: 'largest request body',
    type: BODY_BYTES,
  },
  maxBatchBytes: {
    name: 'max-batch-bytes',
    help: 'largest batch of events',
    type: BODY_BYTES,
  },
  maxWebhookBodyBytes: {
    name: 'max-webhook-body-bytes',
    help: 'largest webhook body',
    type: BODY_BYTES,
  },
  maxConnections: {
    name: 'max-connections',
    help: 'connections that are open at most; fewer where the limit of open files is lower',
    type: integerFrom(1, 1_000_000),
  },
  shedAfterMs: {
    name: 'shed-after-ms',
    help: 'how late the event loop may stay before requests are refused with 503, lists first; 0: none is',
    type: integerFrom(0, 60_000),
  },
  maxServices: {
    name: 'max-services',
    help: 'services a tenant has at most',
    type: integerFrom(1, 100_000_000),
  },
  maxIntegrations: {
    name: 'max-integrations',
    help: 'integrations a tenant has at most',
    type: integerFrom(1, 100_000),
  },
  rateLimitKey: {
    name: 'rate-limit-key',
    help: 'requests a second of an API key, a batch counting as its events',
    type: RATE,
    defaultText: NO_LIMIT,
  },
  rateLimitTenant: {
    name: 'rate-limit-tenant',
    help: 'requests a second of all keys of a tenant',
    type: RATE,
    defaultText: NO_LIMIT,
  },
  rateLimitFailedAuth: {
    name: 'rate-limit-failed-auth',
    help: 'requests a second without a good key of an address; 0: no limit',
    type: RATE,
  },
};

/** In the order of the table. */
export function settingKeys(): readonly (keyof Settings)[] {
  return Object.keys(SETTINGS).filter((key): key is keyof Settings => key in DEFAULTS);
}
