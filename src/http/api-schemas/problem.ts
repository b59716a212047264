import { z } from 'zod';
import { component } from './component.ts';

/** RFC 9457, which a caller gets who accepts JSON. */
export const problemSchema = component(
  'Problem',
  z
    .object({
      type: z.literal('about:blank'),
      title: z.string().describe('The name of the status.'),
      status: z.int().min(400).max(599),
      detail: z.string().describe('One sentence: the same that the plain-text form of the error is.'),
      instance: z.string().describe('The request id, as in X-Request-Id.'),
    })
    .describe('An error, in the form of RFC 9457.'),
);

/** An error's plain form. */
export const sentenceSchema = component(
  'Sentence',
  z.string().min(1).describe('An error in one plain sentence.'),
);
