/** What holds for every route: how callers are known, what paths are made of, and what needs to be said once. */
import { z } from 'zod';
import { INTEGRATION_TYPES } from '../../domain/integration.ts';
import type { RouteLine } from '../route.ts';
import { AGENT, ALERT, INTEGRATION, SERVICE, TOKEN } from './examples.ts';
import type { Parameter } from './operation.ts';

export const INTRODUCTION = `Agents send short-lived events; whoever is paged reads what changed just before.

Every call carries \`Authorization: Bearer <API_KEY>\`. An ingest key is one agent; a read-only key reads, and manages
integrations. What belongs to another tenant looks like what does not exist.

Errors are one sentence of plain text, or \`application/problem+json\` (RFC 9457) where \`Accept\` names JSON. A method
that a path does not have is 405 with \`Allow\`. \`HEAD\` works wherever \`GET\` does, \`OPTIONS\` answers 204 with \`Allow\`.
Times are ISO 8601 in UTC. Fields may be added to answers: let be what you do not know.`;

const BEARER = { type: 'http', scheme: 'bearer' } as const;

export const SECURITY_SCHEMES = {
  ingestKey: {
    ...BEARER,
    bearerFormat: 'fsk_ing_…',
    description: 'A key of an agent: `foreshock keys create --kind ingest`.',
  },
  readOnlyKey: {
    ...BEARER,
    bearerFormat: 'fsk_ro_…',
    description: 'A key of a reader: `foreshock keys create --kind read-only`.',
  },
} as const;

export function securityOf(access: RouteLine['access']): readonly object[] {
  switch (access) {
    case 'ingest':
      return [{ ingestKey: [] }];
    case 'read-only':
      return [{ readOnlyKey: [] }];
    case 'any-key':
      return [{ ingestKey: [] }, { readOnlyKey: [] }];
    case 'webhook-token':
    case 'public':
      return [];
  }
}

const ID_EXAMPLES: Readonly<Record<string, string>> = {
  agents: AGENT,
  services: SERVICE,
  integrations: INTEGRATION,
  alerts: ALERT,
};

/** The parameters of a path, as it stands in the table of routes. */
export function pathParameters(path: string): readonly Parameter[] {
  const segments = path.split('/');
  return segments.flatMap((segment, index): Parameter[] => {
    if (segment === ':type') {
      const schema = z.enum(INTEGRATION_TYPES);
      return [{ name: 'type', description: 'The type of the integration.', schema, example: 'pagerduty' }];
    }
    if (segment === ':token') {
      const description = 'The secret token of the integration.';
      return [{ name: 'token', description, schema: z.string(), example: TOKEN }];
    }
    if (segment !== ':id') return [];
    const kind = segments[index - 1] ?? '';
    const example = ID_EXAMPLES[kind];
    if (example === undefined)
      throw new Error(`${path}: say in ID_EXAMPLES what the id of ${kind} looks like`);
    return [{ name: 'id', description: `Of one of the ${kind}.`, schema: z.uuid(), example }];
  });
}
