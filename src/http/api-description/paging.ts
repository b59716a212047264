import { z } from 'zod';
import { EVENT_TYPES } from '../../domain/event.ts';
import type { Parameter } from './operation.ts';

export const PER_PAGE: Parameter = {
  name: 'per_page',
  description: 'Entries of a page.',
  schema: z.literal([10, 20, 50, 100]).default(10),
  example: 20,
};

export const PAGING: readonly Parameter[] = [
  PER_PAGE,
  { name: 'page', description: 'From 1.', schema: z.int().min(1).default(1), example: 1 },
];

export const EVENT_TYPE: Parameter = {
  name: 'event_type',
  description: 'Only events of this type.',
  schema: z.enum(EVENT_TYPES),
  example: 'deploy',
};
