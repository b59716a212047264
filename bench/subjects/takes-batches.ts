import { EVENT } from '../event.ts';
import type { Foreshock } from '../servers/foreshock.ts';

/**
 * False where the route does not exist.
 *
 * @throws Error where it does, and does not take two good events
 */
export async function takesBatches({ port, ingestKey }: Foreshock): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/events/batch`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ingestKey}`, 'content-type': 'application/x-ndjson' },
    body: `${EVENT}\n${EVENT}`,
  });
  if (answer.status === 404) return false;
  const text = await answer.text();
  const { accepted } = answer.status === 200 ? (JSON.parse(text) as { accepted: number }) : { accepted: 0 };
  if (accepted !== 2) throw new Error(`a batch of two was answered ${answer.status}: ${text}`);
  return true;
}
