/** On what the figures were measured. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/** Others are asked on the command line; what is not installed is left out. */
const COMMANDS: readonly (readonly [name: string, command: string, argument: string, version: RegExp])[] = [
  ['wrk', 'wrk', '-v', /wrk (?:debian\/)?([\w.+-]+)/],
  ['Redis', 'redis-server', '--version', /v=([\d.]+)/],
  ['Alertmanager', 'prometheus-alertmanager', '--version', /version ([\w.+-]+)/],
];

export function machine(): string[] {
  const [processor] = cpus();
  const packages = ['uWebSockets.js', 'fastify', 'autocannon'].map(
    (name) => `${name} ${packageVersion(name)}`,
  );
  const commands = COMMANDS.flatMap(([name, ...asked]) => {
    const version = commandVersion(...asked);
    return version === undefined ? [] : [`${name} ${version}`];
  });
  return [
    `${processor?.model ?? 'unknown processor'}, ${cpus().length} logical processors, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${release()}`,
    [`Node ${process.versions.node}`, ...packages, ...commands].join(', '),
    `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC, commit ${commit()}`,
  ];
}

function packageVersion(name: string): string {
  const file = readFileSync(resolve(ROOT, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(file) as { version: string }).version;
}

function commandVersion(command: string, argument: string, version: RegExp): string | undefined {
  try {
    return version.exec(output(command, argument))?.[1];
  } catch {
    return undefined;
  }
}

/** Also of a program that thinks it failed: wrk does when asked for its version. */
function output(command: string, ...args: readonly string[]): string {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    if (error instanceof Error && 'stdout' in error) return String(error.stdout);
    throw error;
  }
}

function commit(): string {
  try {
    const hash = execFileSync('git', ['-C', ROOT, 'rev-parse', '--short', 'HEAD'], {
      encoding: 'utf8',
    }).trim();
    const changed = execFileSync('git', ['-C', ROOT, 'status', '--porcelain', 'src'], { encoding: 'utf8' });
    return changed === '' ? hash : `${hash} with changes`;
  } catch {
    return 'unknown';
  }
}
