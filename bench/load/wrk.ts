/** Load by wrk, which costs little beside the server that it loads; one request at a time on a connection. */
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Answered } from '../measure/duel.ts';
import { isInstalled } from '../servers/installed.ts';
import { temporaryDirectory } from '../servers/temporary.ts';
import type { Load } from './load.ts';

export const WRK_MISSING = isInstalled('wrk') ? undefined : 'wrk is not installed: apt-get install wrk';

const run = promisify(execFile);

/**
 * @throws Error where any request was refused, lost or cut off: a figure that counts those says nothing
 */
export async function wrkLoad(load: Load): Promise<Answered> {
  const directory = temporaryDirectory();
  try {
    const script = join(directory, 'load.lua');
    const bodyFile = join(directory, 'body');
    if (load.body !== undefined) writeFileSync(bodyFile, load.body);
    writeFileSync(script, lua(load, bodyFile));
    const url = `http://127.0.0.1:${load.port}${load.paths[0]}`;
    const args = ['-t', '1', '-c', String(load.connections), '-d', `${load.seconds}s`, '-s', script, url];
    const { stdout } = await run('wrk', args);
    const counts = /^counted (\d+) (\d+) (\d+)$/m.exec(stdout)?.slice(1).map(Number);
    const [requests = 0, micros = 0, errors = 0] = counts ?? [];
    if (requests === 0 || errors > 0)
      throw new Error(`${url}: ${requests} answers, ${errors} errors\n${stdout}`);
    return { requests, perSecond: (requests / micros) * 1e6 };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function lua({ method, paths, headers, body }: Load, bodyFile: string): string {
  const quoted = (text: string) => JSON.stringify(text);
  return [
    `wrk.method = ${quoted(method)}`,
    ...Object.entries(headers).map(([name, value]) => `wrk.headers[${quoted(name)}] = ${quoted(value)}`),
    ...(body === undefined ? [] : [`wrk.body = io.open(${quoted(bodyFile)}, "rb"):read("*a")`]),
    ...(paths.length > 1 ? inTurns(paths.map(quoted)) : []),
    'done = function(summary)',
    '  local e = summary.errors',
    '  local errors = e.connect + e.read + e.write + e.status + e.timeout',
    '  print(string.format("counted %d %d %d", summary.requests, summary.duration, errors))',
    'end',
  ].join('\n');
}

function inTurns(paths: readonly string[]): string[] {
  return [
    `local paths = { ${paths.join(', ')} }`,
    'local requests = {}',
    'local n = 0',
    'init = function()',
    '  for i, path in ipairs(paths) do requests[i] = wrk.format(nil, path) end',
    'end',
    'request = function()',
    '  n = n % #requests + 1',
    '  return requests[n]',
    'end',
  ];
}
