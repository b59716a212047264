/**
 * `npm run bench:overload`: what becomes of a server that is asked for more than it can do, with load shedding and
 * without. Event log pages and batches, at twice and four times what the server takes; beside them
 * somebody sends an event a few hundred times a second, as agents do. Three minutes, loopback alone.
 *
 * Single events are not overloaded here: our client sends hardly more of them than the server takes.
 */
import { EVENT } from './event.ts';
import { openLoop, type Stream } from './load/open-loop.ts';
import { type Foreshock, startForeshock } from './servers/foreshock.ts';

const CONNECTIONS = 1000;
/** So many that those who wait are the server's to see, as twenty thousand callers would be. */
const DEPTH = 20;
const AGENT_PER_SECOND = 200;
const WARM_UP_SECONDS = 7;
const SECONDS = 4;

const EVENTS_IN_BATCH = 200;
const FILLED_BATCHES = 250;

const batchOf = (events: number) => Array.from({ length: events }, () => EVENT).join('\n');

interface Kind {
  readonly name: string;
  readonly request: (server: Foreshock, agentId: string) => string;
  /** More than the server takes, and not more than the client sends. */
  readonly mostPerSecond: number;
}

const KINDS: readonly Kind[] = [
  {
    name: 'event log pages of 100',
    request: ({ readOnlyKey }, agentId) => request('GET', `/v1/agents/${agentId}?per_page=100`, readOnlyKey),
    mostPerSecond: 20_000,
  },
  {
    name: `batches of ${EVENTS_IN_BATCH} events`,
    request: ({ ingestKey }) => request('POST', '/v1/events/batch', ingestKey, batchOf(EVENTS_IN_BATCH)),
    mostPerSecond: 12_000,
  },
];

const row = (...cells: readonly (string | number)[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`);
const whole = (value: number) => Math.round(value).toLocaleString('en');

row(
  'asked for',
  'shedding',
  'offered/s',
  'taken/s',
  'refused/s',
  'p50 ms',
  'p99 ms',
  'agent: taken/s',
  'agent: p99 ms',
);
row('---', '---', '--:', '--:', '--:', '--:', '--:', '--:', '--:');
for (const kind of KINDS) {
  const peak = await peakOf(kind);
  row(kind.name, 'the most it takes', '', whole(peak), '', '', '', '', '');
  for (const times of [2, 4]) {
    if (times * peak > kind.mostPerSecond) continue;
    for (const flags of [['--shed-after-ms', '0'], []]) {
      const [asked, agent] = await overloaded(kind, times * peak, flags);
      if (asked === undefined || agent === undefined) throw new Error('a stream without a result');
      row(
        `${kind.name}, ${times}×`,
        flags.length === 0 ? 'on' : 'off',
        whole(times * peak),
        whole(asked.takenPerSecond),
        whole(asked.shedPerSecond),
        whole(asked.medianMs),
        whole(asked.p99Ms),
        whole(agent.takenPerSecond),
        whole(agent.p99Ms),
      );
    }
  }
}

/** What the server takes a second, asked by as many connections, each with one request under way. */
async function peakOf(kind: Kind): Promise<number> {
  const { flood } = await import('./load/flood.ts');
  return withServer(['--shed-after-ms', '0'], async (server, agentId) => {
    const text = kind.request(server, agentId);
    const load = {
      port: server.port,
      connections: 64,
      depth: 2,
      requests: Number.MAX_SAFE_INTEGER,
      seconds: 3,
      refused: 'fails',
    } as const;
    return (await flood(load, () => text)).perSecond;
  });
}

function overloaded(kind: Kind, perSecond: number, flags: readonly string[]) {
  return withServer(flags, (server, agentId) => {
    const text = kind.request(server, agentId);
    const event = request('POST', '/v1/events', server.ingestKey, EVENT);
    const streams: Stream[] = [
      { port: server.port, connections: CONNECTIONS, depth: DEPTH, perSecond, nextRequest: () => text },
      { port: server.port, connections: 20, depth: 1, perSecond: AGENT_PER_SECOND, nextRequest: () => event },
    ];
    return openLoop(streams, WARM_UP_SECONDS, SECONDS);
  });
}

/** A server with an agent that has sent some events. */
async function withServer<T>(
  flags: readonly string[],
  step: (server: Foreshock, agentId: string) => Promise<T>,
): Promise<T> {
  const server = await startForeshock(flags);
  try {
    for (let n = 0; n < FILLED_BATCHES; n += 1) {
      await ask(server, 'POST', '/v1/events/batch', server.ingestKey, batchOf(EVENTS_IN_BATCH));
    }
    const agents = (await ask(server, 'GET', '/v1/agents', server.readOnlyKey)) as { readonly id: string }[];
    return await step(server, agents[0]?.id ?? '');
  } finally {
    await server.stop();
  }
}

async function ask(
  { port }: Foreshock,
  method: string,
  path: string,
  key: string,
  body?: string,
): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' };
  const sent = body === undefined ? { method, headers } : { method, headers, body };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, sent);
  if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}

function request(method: string, path: string, key: string, body?: string): string {
  const type = path.endsWith('/batch') ? 'application/x-ndjson' : 'application/json';
  const about =
    body === undefined ? '' : `content-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\n${about}\r\n${body ?? ''}`;
}
