import { z } from 'zod';
import { component } from './component.ts';

export const healthSchema = component('Health', z.object({ status: z.literal('alive') }));
export const readinessSchema = component('Readiness', z.object({ status: z.literal('ready') }));
export const descriptionSchema = component(
  'ApiDescription',
  z.record(z.string(), z.unknown()).describe('An OpenAPI 3.1 document: this one.'),
);
