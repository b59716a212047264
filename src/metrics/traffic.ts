/** What the listener counts, as metrics. */
import type { Traffic } from '../http/traffic.ts';
import type { Family } from './exposition.ts';

export function trafficFamilies(traffic: Traffic, inFlight: number): readonly Family[] {
  const { connections } = traffic;
  const routes = traffic.routes.map((route) => ({
    route,
    labels: { method: route.method, route: route.path },
  }));
  return [
    {
      type: 'counter',
      name: 'foreshock_http_requests_total',
      help: 'Requests answered, by route and first digit of the status; * is what is no route.',
      samples: routes.flatMap(({ route, labels }) =>
        ([2, 4, 5] as const).map((hundreds) => ({
          labels: { ...labels, status: `${hundreds}xx` },
          value: route.count(hundreds),
        })),
      ),
    },
    {
      type: 'histogram',
      name: 'foreshock_http_request_duration_seconds',
      help: 'From the head of a request to its answer. Of POST /v1/events every 64th is timed.',
      histograms: routes.map(({ route, labels }) => ({ labels, histogram: route.duration })),
    },
    {
      type: 'counter',
      name: 'foreshock_http_requests_aborted_total',
      help: 'Requests whose caller was gone before the answer.',
      samples: routes.map(({ route, labels }) => ({ labels, value: route.aborted })),
    },
    {
      type: 'gauge',
      name: 'foreshock_http_requests_in_flight',
      help: 'Requests that are whole and wait for their answer.',
      samples: [{ value: inFlight }],
    },
    {
      type: 'gauge',
      name: 'foreshock_http_connections',
      help: 'Connections that are open.',
      samples: [{ value: connections.open }],
    },
    {
      type: 'counter',
      name: 'foreshock_http_connections_total',
      help: 'Connections that were opened, by whether they were kept.',
      samples: [
        { labels: { outcome: 'accepted' }, value: connections.accepted },
        { labels: { outcome: 'refused' }, value: connections.refused },
      ],
    },
    {
      type: 'counter',
      name: 'foreshock_rejections_total',
      help: 'Requests refused, by reason.',
      samples: [...traffic.rejections].map(([reason, value]) => ({ labels: { reason }, value })),
    },
  ];
}
