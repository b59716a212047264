/** What changed, as short as it can be said: a bar is small, and whose it is stands above. */
import type { EventFields } from '../model.ts';

/** @param service in whose picture or line it stands */
export function changeText(event: EventFields, service: string | undefined): string {
  const { entity, old_value, new_value } = event;
  const after = new_value === null ? '' : isolated(new_value);
  const change = old_value === null || new_value === null ? after : `${isolated(old_value)} → ${after}`;
  return entity === service && change !== '' ? change : `${isolated(entity)} ${change}`.trimEnd();
}

/** Characters that set text of another direction apart, and end that. */
const ISOLATES = /[\u2066-\u2069]/g;

/** There is no <bdi> in a picture, nor in an attribute: these are the characters that it stands for. */
export function isolated(text: string): string {
  return `\u2068${text.replace(ISOLATES, '')}\u2069`;
}
