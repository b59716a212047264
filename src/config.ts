/** Settings an operator chooses, and limits, with the relations between them that the code relies on. */

import type { Durability } from './commands/durability.ts';
import type { TenantCaps } from './commands/refusal.ts';
import type { MetricsAccess } from './domain/metrics-access.ts';
import type { RateLimits } from './http/rate-limiter.ts';
import { socketPathFault } from './lib/socket-path.ts';
import type { TrustedProxy } from './lib/trusted-proxy.ts';
import { MAX_SEGMENT_BYTES } from './log/position.ts';
import { MAX_PAYLOAD_BYTES } from './log/record.ts';
import { HEADER_BYTES } from './log/segment.ts';
import type { AllowEntry } from './outbound/allow-entry.ts';

export interface Settings extends TenantCaps, RateLimits {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number | 'none';
  /** A unix socket to listen on, beside the port or alone. */
  readonly socket: string | null;
  /** Who may connect to the socket: who may write to it. */
  readonly socketMode: number;
  /** PEM; both or none, and plain HTTP without. */
  readonly tlsCert: string | null;
  readonly tlsKey: string | null;
  readonly dataDirectory: string;
  /** What webhook URLs start with; the address listened on where null. */
  readonly baseUrl: string | null;
  readonly durability: Durability;
  /** Whose word on where a request came from is taken. */
  readonly trustProxy: readonly TrustedProxy[];
  /** How long events stay in their agent's event log. */
  readonly retentionSeconds: number;
  /** What calls to tools may reach beside public addresses. */
  readonly outboundAllow: readonly AllowEntry[];
  /** The operator's choice alone: an integration's secrets go there. */
  readonly pagerdutyApiUrl: string;
  readonly pagerdutyEventsUrl: string;
  /** An agent not seen for this long is stale. */
  readonly agentStaleAfterSeconds: number;
  /** Live events that the window of a service holds at most. */
  readonly windowMaxEvents: number;
  /** Bytes of live events that the window of a service holds at most: what one answer can come to. */
  readonly windowMaxBytes: number;
  readonly maxBodyBytes: number;
  readonly maxBatchBytes: number;
  readonly maxWebhookBodyBytes: number;
  /** Connections that are open at most. */
  readonly maxConnections: number;
  /** How late the event loop may stay before requests are shed, milliseconds; 0: none is. */
  readonly shedAfterMs: number;
  /** Who may read GET /metrics. */
  readonly metrics: MetricsAccess;
  /** Readers of the stream at the same time. */
  readonly maxStreams: number;
  /** Of one tenant, so that no tenant takes all of them. */
  readonly maxStreamsTenant: number;
  /** A log segment that has grown past this is sealed and the next begun. */
  readonly segmentBytes: number;
  /** In `write` durability: how much longer its file is made at a time, ahead of what is written; 0: never. */
  readonly logRoomBytes: number;
  /** A checkpoint is made when this many segments have been sealed since the last. */
  readonly checkpointSegments: number;
}

export const DEFAULTS = {
  host: '127.0.0.1',
  port: 8080,
  socket: null,
  socketMode: 0o660,
  tlsCert: null,
  tlsKey: null,
  dataDirectory: './data',
  baseUrl: null,
  trustProxy: [],
  durability: 'write',
  retentionSeconds: 24 * 3600,
  outboundAllow: [],
  pagerdutyApiUrl: 'https://api.pagerduty.com',
  pagerdutyEventsUrl: 'https://events.pagerduty.com',
  agentStaleAfterSeconds: 120,
  windowMaxEvents: 10_000,
  windowMaxBytes: 8 * 1024 * 1024,
  maxBodyBytes: 64 * 1024,
  maxBatchBytes: 16 * 1024 * 1024,
  maxWebhookBodyBytes: 1024 * 1024,
  maxServices: 100_000,
  maxIntegrations: 100,
  maxConnections: 10_000,
  shedAfterMs: 250,
  // An agent that sends what it kept during an outage does right: to limit callers is the operator's choice.
  rateLimitKey: 0,
  rateLimitTenant: 0,
  rateLimitFailedAuth: 10,
  metrics: 'loopback',
  maxStreams: 5000,
  maxStreamsTenant: 1000,
  segmentBytes: 64 * 1024 * 1024,
  logRoomBytes: 1024 * 1024,
  checkpointSegments: 4,
} as const satisfies Settings;

/** Throws a sentence for the operator where settings cannot work together. */
export function checkSettings(settings: Settings): void {
  const demand = (holds: boolean, sentence: string) => {
    if (!holds) throw new RangeError(sentence);
  };
  const { port, socket, tlsCert } = settings;
  demand(port !== 'none' || socket !== null, 'without a port a socket is needed: --port or --socket');
  demand(port !== 'none' || tlsCert === null, 'tls-cert is for the port, and none is open: give --port too');
  const socketFault = socket === null ? undefined : socketPathFault(socket);
  demand(socketFault === undefined, `socket ${socketFault}`);
  demand(
    (settings.tlsCert === null) === (settings.tlsKey === null),
    'tls-cert and tls-key are given together: a certificate is served with its key',
  );
  demand(
    settings.retentionSeconds >= 3600,
    'retention must be at least 1h: events_last_hour is counted from what is retained',
  );
  demand(settings.windowMaxEvents >= 1, 'window-max-events must be at least 1');
  demand(settings.agentStaleAfterSeconds >= 1, 'agent-stale-after must be at least 1s');
  demand(settings.maxBodyBytes >= 1024, 'max-body-bytes must be at least 1024');
  demand(
    settings.maxBatchBytes >= settings.maxBodyBytes && settings.maxBatchBytes <= MAX_PAYLOAD_BYTES / 2,
    `max-batch-bytes must be between max-body-bytes and ${MAX_PAYLOAD_BYTES / 2}: a batch is one record`,
  );
  demand(settings.maxWebhookBodyBytes >= 1024, 'max-webhook-body-bytes must be at least 1024');
  demand(
    settings.windowMaxBytes >= 64 * 1024,
    'window-max-bytes must be at least 65536: what one event can come to',
  );
  demand(
    settings.maxWebhookBodyBytes < MAX_PAYLOAD_BYTES / 2,
    'max-webhook-body-bytes is more than a record holds',
  );
  demand(settings.checkpointSegments >= 1, 'checkpoint-segments must be at least 1');
  demand(
    settings.segmentBytes > HEADER_BYTES && settings.segmentBytes <= MAX_SEGMENT_BYTES,
    `segment-bytes must be between ${HEADER_BYTES + 1} and ${MAX_SEGMENT_BYTES}`,
  );
}
