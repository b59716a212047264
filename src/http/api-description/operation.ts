/** What the API's description says of a route beyond what its line in the table of routes says already. */
import type { z } from 'zod';
import type { Status } from '../responses.ts';

export const TAGS = {
  Agents: 'Who sends events: registration, signs of life, event logs.',
  Events: 'What changed or failed, as agents report it.',
  Services: 'What events are about, and what of them is still relevant.',
  Integrations: 'Connections to alerting tools, and what is sent to them.',
  Alerts: 'What alerting tools say is wrong, and what changed just before.',
  Webhooks: 'Where alerting tools deliver to.',
  Operations: 'For the operator of the server; no key is needed.',
} as const;

export interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  readonly example: string | number;
  /** A header that an answer may lack. */
  readonly isOptional?: boolean;
}

export interface Content {
  /** `application/json` where none is given. */
  readonly mediaType?: string;
  readonly schema: z.ZodType;
  readonly example: unknown;
}

export interface Answer {
  readonly description: string;
  /** Nothing where the answer has no body. */
  readonly content?: Content;
  /** Headers of this answer, by name, beside those that every answer has. */
  readonly headers?: Readonly<Record<string, Parameter>>;
}

export interface Operation {
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description?: string;
  readonly query?: readonly Parameter[];
  /** Request headers. */
  readonly headers?: readonly Parameter[];
  /** The bodies it takes, the usual one first. */
  readonly body?: readonly Content[];
  readonly answers: { readonly [S in Status]?: Answer };
  /** Refusals that the route's access and body do not imply, each with its sentence. */
  readonly refusals?: { readonly [S in Status]?: string };
}

/** By method and path, as they stand in the table of routes. */
export type Operations = Readonly<Record<string, Operation>>;
