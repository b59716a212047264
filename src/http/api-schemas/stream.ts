/** The messages of GET /v1/stream by name: what stands in their data. */
import { z } from 'zod';
import { agentSchema } from './agents.ts';
import { alertSchema } from './alerts.ts';
import { time } from './component.ts';
import { storedEventSchema } from './events.ts';
import { deliverySchema } from './integrations.ts';

export const streamSchemas = {
  /** An event was recorded; each of a batch has a message of its own. */
  event: z.object({ ...storedEventSchema.shape, agent_id: z.uuid(), service_id: z.uuid() }),
  /** An agent was registered, or is not heard of any more. */
  agent: agentSchema,
  /** An agent was heard of without an event. */
  heartbeat: z.object({ agent_id: z.uuid(), last_seen_at: time }),
  /** An alert fired, was resolved, or was held against the events once more; with the notes that tell of it. */
  alert: z.object({ change: z.enum(['fired', 'resolved', 'correlated']), ...alertSchema.shape }),
  /** An attempt to tell another tool began or ended. */
  delivery: deliverySchema,
  /** An integration was made, changed or deleted; what it is now is to be read, its secrets are not here. */
  integration: z.object({ id: z.uuid(), exists: z.boolean() }),
  /** What came before this is not kept any more: what is known is to be loaded anew. */
  reset: z.object({ reason: z.string() }),
} as const;
