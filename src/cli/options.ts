/** How the values of flags are read. A flag's environment variable is FORESHOCK_ and its name in capitals. */

import { InvalidArgumentError, Option } from 'commander';
import type { TrustedProxy } from '../lib/trusted-proxy.ts';
import { type AllowEntry, parseAllowEntry } from '../outbound/allow-entry.ts';

const UNITS: ReadonlyMap<string, number> = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
]);

/** `90s`, `15m`, `24h`, `7d`, or plain seconds. */
export function durationSeconds(text: string): number {
  const match = /^(\d{1,9})([smhd]?)$/.exec(text);
  const unit = UNITS.get(match?.[2] || 's');
  if (match?.[1] === undefined || unit === undefined) {
    throw new InvalidArgumentError('it must be a duration such as 90s, 15m, 24h or 7d.');
  }
  return Number(match[1]) * unit;
}

export function integer(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d{1,15}$/.test(text) || value < low || value > high) {
      throw new InvalidArgumentError(`it must be an integer from ${low} to ${high}.`);
    }
    return value;
  };
}

export function choice<T extends string>(members: readonly T[]): (text: string) => T {
  return (text) => {
    const found = members.find((member) => member === text);
    if (found === undefined) throw new InvalidArgumentError(`Allowed choices are ${members.join(', ')}.`);
    return found;
  };
}

export function fileMode(text: string): number {
  if (!/^0?[0-7]{3}$/.test(text))
    throw new InvalidArgumentError('it must be the mode of a file, such as 0660.');
  return Number.parseInt(text, 8);
}

export function nonEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('it must not be empty.');
  return text;
}

export function httpUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain =
    url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && !/[?#]/.test(text);
  if (url === undefined || !plain) {
    throw new InvalidArgumentError(
      'it must be an http or https URL without user, query or fragment, such as https://foreshock.example.',
    );
  }
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

/** Entries apart by commas, as an environment variable gives them, or the flag given again and again. */
export function allowEntries(text: string, before: readonly AllowEntry[] = []): readonly AllowEntry[] {
  const entries = text.split(',').map((part) => {
    const reading = parseAllowEntry(part);
    if (reading.type === 'refused') throw new InvalidArgumentError(`${part.trim()}: ${reading.detail}.`);
    return reading.entry;
  });
  return [...before, ...entries];
}

/** Addresses, networks and `unix`, apart by commas or given again and again. */
export function trustedProxies(text: string, before: readonly TrustedProxy[] = []): readonly TrustedProxy[] {
  return [...before, ...text.split(',').map((part) => trustedProxy(part.trim()))];
}

function trustedProxy(text: string): TrustedProxy {
  if (text === 'unix') return { type: 'unix' };
  const reading = parseAllowEntry(text);
  if (reading.type === 'refused' && /^[\d.:a-f]+\/\d+$/i.test(text)) {
    throw new InvalidArgumentError(`${reading.detail}.`);
  }
  const entry = reading.type === 'entry' ? reading.entry : undefined;
  if (entry?.type !== 'network' || entry.port !== null) {
    throw new InvalidArgumentError(
      `${text || 'nothing'}: it must be an address, a network such as 10.0.0.0/8, or unix.`,
    );
  }
  if (entry.prefixLength === 0) {
    throw new InvalidArgumentError(`${text}: with every address trusted, callers could name any as theirs.`);
  }
  return { type: 'network', address: entry.address, prefixLength: entry.prefixLength };
}

/** An option that can also be given as FORESHOCK_<FLAG>. */
export function option(flags: string, description: string): Option {
  const made = new Option(flags, description);
  return made.env(variableOf(made.name()));
}

/** The environment variable of a flag. */
export function variableOf(flag: string): string {
  return `FORESHOCK_${flag.replaceAll('-', '_').toUpperCase()}`;
}
