/** What the examples of the description have in common. */
export const TENANT = '0b5f7a3c-6a0e-4f35-9d6e-0c6a1c1b9a57';
export const AGENT = '69946b02-4c9a-52e9-a57f-ff0f23bc2e0c';
export const KEY = 'f1f0e0a4-4d3a-4a55-8a3c-2f6a0f2a8b11';
export const SERVICE = 'c1a8f7f0-41f5-5d7e-9d0b-0a51d3a4c2e9';
export const INTEGRATION = '5f0c1d7e-93a5-4b0e-b8a7-3a2b1c0d9e8f';
export const ALERT = '8b7d5c1e-2f3a-5b4c-9d8e-7f6a5b4c3d2e';
export const NOTE = '3e2d1c0b-9a8f-5e7d-8c6b-5a4f3e2d1c0b';
export const TOKEN = '4fQ8mVq7Lw4RzT1bKc8XfD3hJn6PgA5eS9uYw2xN0aB';

export const FACTS = {
  service_name: 'checkout-api',
  vendor: 'argocd',
  entity: 'checkout-api',
  event_type: 'deploy',
  old_value: 'v41',
  new_value: 'v42',
  actor: 'ci-pipeline-7781',
  sha: '9fceb02d0ae598e95dc970b74767f19372d61af8',
  confidence: 0.95,
} as const;

export const STORED_EVENT = {
  id: '0199a3c2-5f00-70b5-9f7a-000000000001',
  ...FACTS,
  ttl_seconds: 3600,
  timestamp: '2026-10-02T14:03:11.000Z',
  received_at: '2026-10-02T14:03:12.480Z',
  expires_at: '2026-10-02T15:03:12.480Z',
} as const;
