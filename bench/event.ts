/** The event that is sent wherever a subject does not say otherwise: about 400 bytes of JSON, as agents send them. */
export const EVENT_FIELDS = {
  service_name: 'checkout-api',
  vendor: 'kubernetes',
  entity: 'checkout-api-7d4f9c-2xk8p',
  event_type: 'deploy',
  old_value: 'registry.example/checkout:v41',
  new_value: 'registry.example/checkout:v42',
  actor: 'deploy-pipeline',
  sha: '8a1cb4a02d3538e54907c827352f66f20c3d7b0d',
  confidence: 0.95,
  ttl_seconds: 60,
  timestamp: '2026-08-22T10:10:02.125Z',
  raw_line: 'Sync operation to 8a1cb4a02d35 succeeded',
} as const;

export const EVENT = JSON.stringify(EVENT_FIELDS);
