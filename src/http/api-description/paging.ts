import { z } from 'zod';
import type { Parameter } from './operation.ts';

export const PAGING: readonly Parameter[] = [
  {
    name: 'per_page',
    description: 'Entries of a page.',
    schema: z.literal([10, 20, 50, 100]).default(10),
    example: 20,
  },
  { name: 'page', description: 'From 1.', schema: z.int().min(1).default(1), example: 1 },
];
