/** Services as JSON. */
import type { Service } from '../commands/services.ts';
import type { State } from '../commands/state.ts';
import { closeObject, isoTime, openObject } from './json.ts';

/** The part of a list entry that never changes. */
export function serviceRow({ tenant, id, name }: Service): string {
  return openObject({ id, tenant_id: tenant.id, name });
}

export function serviceEntry(row: string, { context }: Service, state: State): string {
  const { agent, lastEventAtMs } = context;
  return closeObject(row, {
    agent_id: state.agents.at(agent).identity.id,
    last_event_at: isoTime(lastEventAtMs),
  });
}
