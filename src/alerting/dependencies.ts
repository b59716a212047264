/**
 * Where to look besides the alert's own service: at what its open circuits and failed dependencies name, and at
 * what theirs name, two steps in all. Each step costs (`DEPENDENCY_DISTANCE`), and costs more where the agent was
 * not sure. A service that is reached in two ways is as near as the nearer of them; none is reached from itself,
 * so circles end.
 */
import type { PastEvent } from '../domain/alert.ts';
import { DEPENDENCY_DISTANCE } from './score.ts';

export interface ReachedService {
  readonly serviceName: string;
  /** Over 0 and up to 1; 1 is the alert's own. */
  readonly distance: number;
  /** What of it may have to do with the alert. */
  readonly events: readonly PastEvent[];
}

export interface Surroundings {
  /** Events of a service that may have to do with the alert. */
  readonly eventsOf: (serviceName: string) => readonly PastEvent[];
  /** The service that is called exactly so. */
  readonly serviceNamed: (text: string) => string | undefined;
}

const MAX_STEPS = 2;
/** The nearest so many are looked at: more would be no help to whoever is paged, and take time. */
const MAX_SERVICES_PER_STEP = 16;
/** Of entity and new value: a name, or a sentence about it. */
const MAX_TEXT_LENGTH = 1024;
const MAX_WORDS = 64;

const WORD_ENDS = /[\s"'`<>()[\]{},;|]+/;
const PUNCTUATION = /^[.:!?=]+|[.:!?=]+$/g;
const URL_HOST = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]+)/i;
const HOST_AND_PORT = /^([^/:]+):\d{1,5}(?:\/.*)?$/;
/** `payments-api.payments.svc`, `payments-api.payments.svc.cluster.local` */
const CLUSTER_NAME = /^([^.]+)\.[^.]+\.svc(?:\.[a-z0-9.-]+)?\.?$/i;
/** In a sentence, `search` is a word; `search-api`, `search:9200` and `http://search` are names. */
const LOOKS_LIKE_A_NAME = /[\p{L}\p{N}][-_.:/@\d]+[\p{L}\p{N}]/u;

export function reachedServices(serviceName: string, around: Surroundings): readonly ReachedService[] {
  const own = { serviceName, distance: 1, events: around.eventsOf(serviceName) };
  const reached = new Map<string, ReachedService>([[serviceName, own]]);
  let outermost: readonly ReachedService[] = [own];
  for (let step = 1; step <= MAX_STEPS && outermost.length > 0; step += 1) {
    outermost = nearest(distancesFrom(outermost, around), reached).map(([name, distance]) => {
      const service = {
        serviceName: name,
        distance,
        events: reached.get(name)?.events ?? around.eventsOf(name),
      };
      reached.set(name, service);
      return service;
    });
  }
  return [...reached.values()];
}

function distancesFrom(from: readonly ReachedService[], around: Surroundings): Map<string, number> {
  const distances = new Map<string, number>();
  for (const service of from) {
    for (const [text, confidence] of namingTexts(service.events)) {
      const distance = service.distance * DEPENDENCY_DISTANCE * confidence;
      for (const name of servicesNamedIn(text, around.serviceNamed)) {
        distances.set(name, Math.max(distance, distances.get(name) ?? 0));
      }
    }
  }
  return distances;
}

function nearest(
  distances: ReadonlyMap<string, number>,
  reached: ReadonlyMap<string, ReachedService>,
): readonly (readonly [string, number])[] {
  return [...distances]
    .filter(([name, distance]) => distance > (reached.get(name)?.distance ?? 0))
    .sort(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1))
    .slice(0, MAX_SERVICES_PER_STEP);
}

/** Each text that may name a service, with the highest confidence it came with: repetitions are read once. */
function namingTexts(events: readonly PastEvent[]): Map<string, number> {
  const texts = new Map<string, number>();
  for (const { eventType, entity, newValue, confidence } of events) {
    if (eventType !== 'circuit_open' && eventType !== 'dependency_failure') continue;
    for (const text of [entity, newValue ?? '']) texts.set(text, Math.max(confidence, texts.get(text) ?? 0));
  }
  return texts;
}

function servicesNamedIn(text: string, serviceNamed: Surroundings['serviceNamed']): ReadonlySet<string> {
  const whole = text.slice(0, MAX_TEXT_LENGTH).trim();
  const words = whole
    .split(WORD_ENDS, MAX_WORDS)
    .map((word) => word.replace(PUNCTUATION, ''))
    .filter((word) => LOOKS_LIKE_A_NAME.test(word));
  const names = [whole, ...words].flatMap(formsOf).map(serviceNamed);
  return new Set(names.filter((name) => name !== undefined));
}

/** What a name may be short of its address: the whole text, the host in it, the service in the cluster's name. */
function formsOf(text: string): readonly string[] {
  if (text === '') return [];
  const host = URL_HOST.exec(text)?.[1] ?? HOST_AND_PORT.exec(text)?.[1] ?? text;
  const inCluster = CLUSTER_NAME.exec(host)?.[1];
  return [text, host, ...(inCluster === undefined ? [] : [inCluster])];
}
