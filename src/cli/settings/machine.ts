/** Whether this machine has what settings ask for: what `serve` would find out at its start, found out without it. */
import { accessSync, constants, lstatSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { Settings } from '../../config.ts';
import { readCertificate } from '../../lib/certificate.ts';
import { systemClock } from '../../lib/clock.ts';

export interface Findings {
  /** What a start would fail for. */
  readonly problems: readonly string[];
  /** What a start would only warn of. */
  readonly warnings: readonly string[];
}

export function lookAtMachine(settings: Settings): Findings {
  const certificate = lookAtCertificate(settings);
  return {
    problems: [
      ...directoryProblems(settings),
      ...hostProblems(settings),
      ...socketProblems(settings),
      ...certificate.problems,
    ],
    warnings: certificate.warnings,
  };
}

function lookAtCertificate({ tlsCert, tlsKey }: Settings): Findings {
  if (tlsCert === null || tlsKey === null) return { problems: [], warnings: [] };
  try {
    const { warnings } = readCertificate({ certFile: tlsCert, keyFile: tlsKey }, systemClock.now());
    return { problems: [], warnings };
  } catch (error) {
    return { problems: [error instanceof Error ? error.message : String(error)], warnings: [] };
  }
}

function directoryProblems({ dataDirectory }: Settings): string[] {
  const existing = nearestExisting(resolve(dataDirectory));
  const where = existing === resolve(dataDirectory) ? '' : ` (it would be made in ${existing})`;
  if (!statSync(existing).isDirectory()) return [`data-dir ${dataDirectory}: ${existing} is no directory`];
  try {
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK);
    return [];
  } catch {
    return [`data-dir ${dataDirectory}${where} cannot be written by this user`];
  }
}

function nearestExisting(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) === undefined ? nearestExisting(dirname(path)) : path;
}

const HOST_NAME = /^(?=.{1,253}$)[\w-]+(?:\.[\w-]+)*\.?$/;

function socketProblems({ socket }: Settings): string[] {
  if (socket === null) return [];
  const found = lstatSync(socket, { throwIfNoEntry: false });
  if (found !== undefined && !found.isSocket()) return [`socket ${socket} is there and no socket`];
  try {
    accessSync(dirname(socket), constants.W_OK | constants.X_OK);
    return [];
  } catch {
    return [`socket ${socket}: its directory is not there, or cannot be written by this user`];
  }
}

function hostProblems({ host, port }: Settings): string[] {
  if (port === 'none') return [];
  if (isIP(host) === 0) {
    return HOST_NAME.test(host) ? [] : [`host ${host} is neither an address nor the name of a host`];
  }
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  const isOwn = /^(?:0\.0\.0\.0|127\..*|::|::1)$/.test(host) || own.some(({ address }) => address === host);
  return isOwn ? [] : [`host ${host} is no address of this machine`];
}
