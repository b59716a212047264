/** What the engine knows of itself, as metrics: read off the state when somebody asks, never kept beside it. */
import type { Checkpointer } from '../commands/checkpointer.ts';
import type { Pipeline } from '../commands/pipeline.ts';
import type { State, Tenant } from '../commands/state.ts';
import type { Clock } from '../lib/clock.ts';
import type { Histogram } from '../lib/histogram.ts';
import type { CommandLog } from '../log/log.ts';
import type { StreamCounts } from '../stream/hub.ts';
import type { Family } from './exposition.ts';

/** What of the engine is counted. */
export interface MetricsEngine {
  readonly state: State;
  readonly pipeline: Pipeline;
  readonly time: Pick<Clock, 'now'>;
  readonly log: Pick<CommandLog, 'lastStamp' | 'sizeBytes'>;
  readonly syncs: Histogram;
  readonly checkpoints: Pick<Checkpointer, 'newestAtMs' | 'failures'> | undefined;
  readonly streams: { readonly counts: StreamCounts };
  readonly loadMs: number;
  readonly replayed: number;
}

export function engineFamilies(engine: MetricsEngine): readonly Family[] {
  return [...logFamilies(engine), ...stateFamilies(engine), ...streamFamilies(engine.streams.counts)];
}

const gauge = (name: string, help: string, value: number): Family => ({
  type: 'gauge',
  name,
  help,
  samples: [{ value }],
});
const counter = (name: string, help: string, value: number): Family => ({
  type: 'counter',
  name,
  help,
  samples: [{ value }],
});

function logFamilies({ log, pipeline, syncs, checkpoints, loadMs, replayed, time }: MetricsEngine): Family[] {
  const { sequence } = log.lastStamp;
  const checkpointAtMs = checkpoints?.newestAtMs;
  return [
    counter('foreshock_log_commands_total', 'Commands in the log since it began: its position.', sequence),
    counter(
      'foreshock_log_appended_bytes_total',
      'Bytes appended to the log since the process began.',
      pipeline.appendedBytes,
    ),
    gauge('foreshock_log_size_bytes', 'Bytes of the log on disk.', log.sizeBytes()),
    {
      type: 'histogram',
      name: 'foreshock_log_sync_duration_seconds',
      help: 'How long a sync of the log took; with --durability fsync, with the write before it.',
      histograms: [{ histogram: syncs }],
    },
    gauge(
      'foreshock_log_writable',
      '1 where commands are taken, 0 where the disk takes none.',
      pipeline.trouble === undefined ? 1 : 0,
    ),
    gauge('foreshock_log_waiting_commands', 'Commands that wait for a sync.', pipeline.waiting),
    gauge('foreshock_log_waiting_bytes', 'Bytes of commands that wait for a sync.', pipeline.waitingBytes),
    gauge('foreshock_replay_duration_seconds', 'How long the start took to read the log.', loadMs / 1000),
    gauge('foreshock_replay_commands', 'Commands that the start replayed.', replayed),
    {
      type: 'gauge',
      name: 'foreshock_checkpoint_age_seconds',
      help: 'Age of what the newest checkpoint covers; absent where there is none.',
      samples:
        checkpointAtMs === undefined ? [] : [{ value: Math.max(0, time.now() - checkpointAtMs) / 1000 }],
    },
    counter(
      'foreshock_checkpoint_failures_total',
      'Checkpoints that could not be made since the process began.',
      checkpoints?.failures ?? 0,
    ),
  ];
}

function stateFamilies({ state, pipeline, time }: MetricsEngine): Family[] {
  const { live, tenants } = state;
  const sum = (of: (tenant: Tenant) => number) => {
    let total = 0;
    for (const tenant of tenants.values()) total += of(tenant);
    return total;
  };
  const lagMs = state.reclaimLagMs(pipeline.appliedUntil(time.now()));
  return [
    gauge('foreshock_tenants', 'Tenants.', tenants.size),
    gauge('foreshock_keys', 'API keys that are good.', state.keysByHash.size),
    gauge(
      'foreshock_agents',
      'Agents.',
      sum(({ agents }) => agents.size),
    ),
    gauge(
      'foreshock_services',
      'Services, each with its window.',
      sum(({ services }) => services.size),
    ),
    gauge(
      'foreshock_integrations',
      'Integrations.',
      sum(({ integrations }) => integrations.size),
    ),
    counter(
      'foreshock_events_total',
      'Events recorded since the log began.',
      sum(({ eventCount }) => eventCount),
    ),
    gauge(
      'foreshock_live_events',
      'Events in windows, expired ones not yet reclaimed among them.',
      live.held,
    ),
    gauge(
      'foreshock_live_event_chunks',
      'Chunks of memory, 64 KiB each, that live events are in.',
      live.chunkCount,
    ),
    counter(
      'foreshock_events_reclaimed_total',
      'Expired events whose memory was given back, since the process began.',
      live.reclaimed,
    ),
    counter(
      'foreshock_events_truncated_total',
      'Events that left a full window before they expired, since the process began.',
      live.truncated,
    ),
    gauge(
      'foreshock_timer_wheel_lag_seconds',
      'How long memory of expired events has been waiting to be given back; no reader sees it.',
      lagMs / 1000,
    ),
    gauge('foreshock_idempotency_keys', 'Idempotency keys that are remembered.', state.idempotencyKeys.size),
    gauge(
      'foreshock_alerts',
      'Alerts that are kept.',
      sum(({ alerts }) => alerts.alerts.size),
    ),
    gauge(
      'foreshock_alerts_firing',
      'Alerts that fire.',
      sum(({ alerts }) => alerts.firingCount),
    ),
    gauge(
      'foreshock_inbox_deliveries',
      'Webhook deliveries that wait to be worked out.',
      sum(({ inbox }) => inbox.pending.size),
    ),
    gauge(
      'foreshock_outbox_deliveries',
      'Deliveries to alerting tools that wait or are under way.',
      sum(({ outbox }) => outbox.waiting.size),
    ),
  ];
}

function streamFamilies({ open, behind, opened, cutOff }: StreamCounts): Family[] {
  return [
    gauge('foreshock_streams', 'Streams that are open.', open),
    gauge(
      'foreshock_streams_behind',
      'Streams that are given what they missed from the log, or whose readers do not read.',
      behind,
    ),
    counter('foreshock_streams_opened_total', 'Streams that were opened since the process began.', opened),
    counter(
      'foreshock_streams_cut_off_total',
      'Streams that were cut off since the process began: the reader was too slow, or its key was revoked.',
      cutOff,
    ),
  ];
}
