/** Load from this process, by autocannon, with pipelining. */
import autocannon from 'autocannon';
import type { Answered } from '../measure/duel.ts';
import type { Load } from './load.ts';

/**
 * @throws Error where any request was refused, lost or cut off: a figure that counts those says nothing
 */
export async function autocannonLoad(load: Load, pipelining: number): Promise<Answered> {
  const url = `http://127.0.0.1:${load.port}${load.paths[0]}`;
  const result = await autocannon({
    url,
    connections: load.connections,
    pipelining,
    duration: load.seconds,
    method: load.method,
    headers: { ...load.headers },
    ...(load.body === undefined ? {} : { body: load.body }),
  });
  if (result.errors > 0 || result.timeouts > 0 || result.non2xx > 0) {
    throw new Error(
      `${url}: ${result.errors} errors, ${result.timeouts} time-outs, ${result.non2xx} answers other than 2xx`,
    );
  }
  return { requests: result['2xx'], perSecond: result['2xx'] / result.duration };
}
