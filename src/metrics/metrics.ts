/** GET /metrics: everything that is counted, as the Prometheus text of this moment. Nothing in it names a tenant. */
import type { Overload } from '../http/overload.ts';
import type { Traffic } from '../http/traffic.ts';
import type { Clock } from '../lib/clock.ts';
import type { EventLoopMeter } from '../lib/event-loop.ts';
import type { Reactors } from '../reactors/reactors.ts';
import { engineFamilies, type MetricsEngine } from './engine.ts';
import { expositionOf, type Family } from './exposition.ts';
import { overloadFamilies } from './overload.ts';
import { processFamilies } from './process.ts';
import { trafficFamilies } from './traffic.ts';

export interface MetricsSources {
  readonly version: string;
  readonly clock: Clock;
  readonly eventLoop: EventLoopMeter;
  readonly traffic: Traffic;
  readonly overload: Overload;
  readonly inFlight: number;
  /** Undefined where HTTP is plain. */
  readonly certificateExpiresAtMs: number | undefined;
  /** Requests are served. */
  readonly isReady: boolean;
  /** Undefined while the log is replayed. */
  readonly engine: MetricsEngine | undefined;
  readonly reactors: Pick<Reactors, 'outcomes'> | undefined;
}

export function metricsText(sources: MetricsSources): string {
  const { version, clock, eventLoop, traffic, overload, inFlight, isReady, engine, reactors } = sources;
  const { certificateExpiresAtMs } = sources;
  return expositionOf([
    ...processFamilies(version, clock.now(), eventLoop),
    {
      type: 'gauge',
      name: 'foreshock_ready',
      help: '1 where requests are served, 0 while starting and stopping.',
      samples: [{ value: isReady ? 1 : 0 }],
    },
    ...(certificateExpiresAtMs === undefined ? [] : [certificateFamily(certificateExpiresAtMs)]),
    ...trafficFamilies(traffic, inFlight),
    ...overloadFamilies(overload),
    ...(engine === undefined ? [] : engineFamilies(engine)),
    {
      type: 'counter',
      name: 'foreshock_outbound_attempts_total',
      help: 'Attempts to deliver to alerting tools, by what became of them, since the process began.',
      samples: Object.entries(reactors?.outcomes ?? {}).map(([outcome, value]) => ({
        labels: { outcome },
        value,
      })),
    },
  ]);
}

export function certificateFamily(expiresAtMs: number): Family {
  return {
    type: 'gauge',
    name: 'foreshock_tls_certificate_expiry_timestamp_seconds',
    help: 'When the certificate that is served expires, or one that it needs; seconds since the epoch.',
    samples: [{ value: expiresAtMs / 1000 }],
  };
}
