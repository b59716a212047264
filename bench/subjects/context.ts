/** GET /v1/services/{id}/context with 50 live events, against a bare handler that answers a constant as long. */
import { LoadClient } from '../load/client.ts';
import type { Load } from '../load/load.ts';
import { WRK_MISSING } from '../load/wrk.ts';
import { startBare } from '../peers/bare.ts';
import { type Foreshock, startForeshock, UNSHED } from '../servers/foreshock.ts';
import type { Findings, Scope } from '../subject.ts';
import { SECONDS, wrkDuel, wrkRows } from './against.ts';
import { fillerOf } from './filled.ts';

const LIVE_EVENTS = 50;
/** Read in turns, so that it is not one answer over and over. */
const SERVICES = 100;
const CONNECTIONS = 64;

export async function context(scope: Scope): Promise<Findings> {
  if (WRK_MISSING !== undefined) return { rows: [], skipped: [WRK_MISSING] };
  let answerBytes = 0;
  const figures = await wrkDuel(scope, async (servers) => {
    const ours = servers.add(await startForeshock(UNSHED));
    const client = servers.add(new LoadClient());
    const fill = await fillerOf(client, ours, { keys: [ours.ingestKey], services: SERVICES });
    await fill(SERVICES * LIVE_EVENTS, { type: 'ttl', seconds: 3600 });

    const paths = await contextPaths(ours);
    answerBytes = Buffer.byteLength(await get(ours, paths[0]));
    const peer = servers.add(await startBare(answerBytes));
    const load: Load = {
      port: ours.port,
      method: 'GET',
      paths,
      headers: { authorization: `Bearer ${ours.readOnlyKey}` },
      connections: CONNECTIONS,
      seconds: SECONDS,
    };
    return { ours, peer, load };
  });
  const against = {
    what: `GET /v1/services/{id}/context, ${LIVE_EVENTS} events`,
    peerName: `bare uWebSockets.js, ${(answerBytes / 1000).toFixed(1)} kB`,
    least: 0.5,
    aim: 0.8,
  };
  return { rows: wrkRows(against, CONNECTIONS, figures) };
}

async function contextPaths(server: Foreshock): Promise<[string, ...string[]]> {
  const services = JSON.parse(await get(server, '/v1/services')) as { id: string; name: string }[];
  const [first, ...others] = services
    .filter(({ name }) => name.startsWith('service-'))
    .map(({ id }) => `/v1/services/${id}/context`);
  if (first === undefined) throw new Error('there are no services');
  return [first, ...others];
}

async function get({ port, readOnlyKey }: Foreshock, path: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { authorization: `Bearer ${readOnlyKey}` },
  });
  if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}`);
  return answer.text();
}
