/** Filling a server with live events over HTTP: in batches where it takes them, one by one where it does not. */
import type { LoadClient } from '../load/client.ts';
import type { Life, Traffic } from '../load/traffic.ts';
import type { Foreshock } from '../servers/foreshock.ts';
import { takesBatches } from './takes-batches.ts';

const BATCH = 500;

/** Sends events of this life; `traffic` goes on as it was wherever it is taken up again. */
export type Filler = (events: number, life: Life) => Promise<void>;

export async function fillerOf(
  client: LoadClient,
  server: Foreshock,
  of: Pick<Traffic, 'keys' | 'services'>,
): Promise<Filler> {
  const batch = (await takesBatches(server)) ? BATCH : 1;
  return (events, life) => client.send(server.port, Math.ceil(events / batch), { ...of, life, batch });
}

/** Makes so many agents. */
export async function agentsOf(client: LoadClient, server: Foreshock, count: number): Promise<string[]> {
  const keys = await server.createIngestKeys(count);
  await client.register(server.port, keys);
  return keys;
}
