/** The server's own table of routes, so that a route added to it is tested without anybody thinking of it. */
import type { RouteLine } from '../../src/http/route.ts';
import { tableOfRoutes } from '../support/description.ts';

export type TableRoute = RouteLine;

/** What it answers does not end: test/stream reads it. */
export function isEndless({ path }: Pick<TableRoute, 'path'>): boolean {
  return path === '/v1/stream';
}

export function routeTable(): readonly TableRoute[] {
  return tableOfRoutes();
}

/** What stands for the `:parameters` of paths, by the segment before them. */
export interface PathIds {
  readonly agents: string;
  readonly services: string;
  readonly integrations: string;
  readonly alerts: string;
  readonly webhooks: string;
}

/** A path of the table with its parameters filled in. */
export function fill(path: string, ids: PathIds): string {
  const known = new Map<string | undefined, string>(Object.entries(ids));
  const segments = path.split('/');
  return segments
    .map((segment, index) => {
      if (!segment.startsWith(':')) return segment;
      if (segment === ':token') return ids.webhooks;
      if (segment === ':type') return 'pagerduty';
      const id = known.get(segments[index - 1]);
      if (id === undefined) throw new Error(`${path}: say in PathIds what ${segment} stands for`);
      return id;
    })
    .join('/');
}

const EVENT = {
  service_name: 'a-new-service',
  vendor: 'argocd',
  entity: 'e',
  event_type: 'deploy',
  confidence: 1,
  ttl_seconds: 3600,
};

const JSON_BODIES: ReadonlyMap<string, object> = new Map<string, object>([
  ['POST /v1/agents/register', { hostname: 'host-of-another-name', version: '9.9' }],
  ['POST /v1/events', EVENT],
  ['POST /v1/events/batch', [EVENT]],
  ['POST /v1/integrations', { type: 'pagerduty', direction: 'bidirectional' }],
  ['PUT /v1/integrations/:id', { config: { pagerduty_token: 'another-token' } }],
  ['POST /webhooks/:type/:token', { event: { event_type: 'incident.triggered' } }],
]);

/** A body that the route would take. */
export function goodBody({ method, path, body }: TableRoute): object | undefined {
  if (body === 'none') return undefined;
  const good = JSON_BODIES.get(`${method} ${path}`);
  if (good === undefined) throw new Error(`say in JSON_BODIES what ${method} ${path} takes`);
  return good;
}
