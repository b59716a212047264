/** Who may read the metrics. They name no tenant, and say how busy the server is. */
export const METRICS_ACCESSES = ['loopback', 'everybody', 'nobody'] as const;
export type MetricsAccess = (typeof METRICS_ACCESSES)[number];
