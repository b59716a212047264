/** The fleet of the demonstration: thirty services, and sixty agents that report of them. */
import type { EventBody } from '../../src/client/index.ts';

const AREAS = [
  'checkout',
  'payments',
  'search',
  'catalog',
  'accounts',
  'shipping',
  'pricing',
  'reviews',
  'mail',
  'media',
];
const KINDS = ['api', 'worker', 'db'];
export const SERVICES: readonly string[] = AREAS.flatMap((area) => KINDS.map((kind) => `${area}-${kind}`));
export const AGENTS = 60;
const PEOPLE = ['alice', 'bob', 'chen', 'dana', 'ci-pipeline'];

let drawn = 7;

/** From 0 to 1; the same every time, so that two demonstrations can be compared. (mulberry32) */
export function chance(): number {
  drawn = (drawn + 0x6d2b79f5) | 0;
  let bits = Math.imul(drawn ^ (drawn >>> 15), 1 | drawn);
  bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
  return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
}

export function pick<T>(choices: readonly T[]): T {
  const choice = choices[Math.floor(chance() * choices.length)];
  if (choice === undefined) throw new Error('nothing to choose from');
  return choice;
}

export interface Story {
  /** Of the incident. */
  readonly id: string;
  readonly title: string;
  readonly service: string;
  readonly events: readonly EventBody[];
}

/** What went wrong, in the order in which it did; the alert comes after the last. */
export const STORIES: readonly Story[] = [
  {
    id: 'PCHECKOUT',
    title: 'checkout-api: error rate over 5 %',
    service: 'checkout-api',
    events: [
      {
        service_name: 'checkout-api',
        vendor: 'argocd',
        entity: 'checkout-api',
        event_type: 'deploy',
        old_value: 'v41',
        new_value: 'v42',
        actor: 'alice',
        sha: '9f31c07',
        confidence: 0.98,
        ttl_seconds: 3600,
      },
      {
        service_name: 'checkout-api',
        vendor: 'kubernetes',
        entity: 'checkout-api-7d9f-x2x',
        event_type: 'restart',
        new_value: 'CrashLoopBackOff',
        confidence: 0.95,
        ttl_seconds: 1800,
      },
    ],
  },
  {
    id: 'PPAYMENTS',
    title: 'payments-db: connections refused',
    service: 'payments-db',
    events: [
      {
        service_name: 'payments-db',
        vendor: 'postgresql',
        entity: 'max_connections',
        event_type: 'flag_change',
        old_value: '400',
        new_value: '100',
        actor: 'bob',
        confidence: 0.9,
        ttl_seconds: 3600,
      },
      {
        service_name: 'payments-db',
        vendor: 'postgresql',
        entity: 'connections',
        event_type: 'saturation',
        new_value: 'remaining connection slots are reserved',
        confidence: 0.95,
        ttl_seconds: 1800,
      },
    ],
  },
  {
    id: 'PSHIPPING',
    title: 'shipping-api: p99 latency over 4 s',
    service: 'shipping-api',
    events: [
      {
        service_name: 'shipping-api',
        vendor: 'mesh',
        entity: 'carrier-gateway',
        event_type: 'dependency_failure',
        new_value: '503 from carrier-gateway',
        confidence: 0.9,
        ttl_seconds: 1800,
      },
      {
        service_name: 'shipping-api',
        vendor: 'mesh',
        entity: 'carrier-gateway',
        event_type: 'circuit_open',
        old_value: 'closed',
        new_value: 'open',
        confidence: 0.97,
        ttl_seconds: 1800,
      },
    ],
  },
];

/** What went wrong in the hour before, and is over. */
export const PAST_STORY: Story = {
  id: 'PSEARCH',
  title: 'search-worker: queue is not drained',
  service: 'search-worker',
  events: [
    {
      service_name: 'search-worker',
      vendor: 'flags',
      entity: 'search-worker.batch-size',
      event_type: 'flag_change',
      old_value: '50',
      new_value: '5000',
      actor: 'chen',
      confidence: 0.9,
      ttl_seconds: 1800,
    },
    {
      service_name: 'search-worker',
      vendor: 'kubernetes',
      entity: 'search-worker-5c6f-k8s',
      event_type: 'restart',
      new_value: 'OOMKilled',
      confidence: 0.97,
      ttl_seconds: 1800,
    },
  ],
};

/** Those that nothing goes wrong with: what changes at them on any day hides nothing of what goes wrong. */
const CALM = SERVICES.filter((name) => [...STORIES, PAST_STORY].every(({ service }) => service !== name));

/** What goes on in a fleet on any day. */
export function everyday(service_name = pick(CALM)): EventBody {
  const version = Math.floor(chance() * 90) + 10;
  const common = { service_name, confidence: 0.9, ttl_seconds: pick([300, 900, 1800]) };
  const pod = `${service_name}-${chance().toString(36).slice(2, 7)}`;
  switch (pick(['deploy', 'restart', 'restart', 'flag_change', 'saturation'])) {
    case 'deploy':
      return {
        ...common,
        event_type: 'deploy',
        vendor: 'argocd',
        entity: service_name,
        old_value: `v${version}`,
        new_value: `v${version + 1}`,
        actor: pick(PEOPLE),
        sha: chance().toString(16).slice(2, 9),
      };
    case 'flag_change':
      return {
        ...common,
        event_type: 'flag_change',
        vendor: 'flags',
        entity: `${service_name}.${pick(['new-cart', 'fast-path', 'dark-mode'])}`,
        old_value: 'off',
        new_value: 'on',
        actor: pick(PEOPLE),
      };
    case 'saturation':
      return {
        ...common,
        event_type: 'saturation',
        vendor: 'kubernetes',
        entity: pod,
        new_value: 'memory at 91 %',
      };
    default:
      return {
        ...common,
        event_type: 'restart',
        vendor: 'kubernetes',
        entity: pod,
        new_value: 'liveness probe failed',
      };
  }
}
