/** Load from this process, by autocannon, on loopback and for seconds. */
import autocannon from 'autocannon';

export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly pipelining: number;
  readonly seconds: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Answered requests a second.
 *
 * @throws Error where any request was refused, lost or cut off: a figure that counts those says nothing
 */
export async function run(load: Load): Promise<number> {
  const { url, connections, pipelining, seconds, headers, body } = load;
  const result = await autocannon({
    url,
    connections,
    pipelining,
    duration: seconds,
    method: 'POST',
    headers: { ...headers },
    body,
  });
  if (result.errors > 0 || result.timeouts > 0 || result.non2xx > 0) {
    throw new Error(
      `${url}: ${result.errors} errors, ${result.timeouts} time-outs, ${result.non2xx} answers other than 2xx`,
    );
  }
  return result['2xx'] / result.duration;
}
