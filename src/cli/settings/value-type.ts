/** How the value of a setting is written: read from a flag, a variable or the configuration file, and written back. */

import { networkText } from '../../lib/ip-address.ts';
import type { TrustedProxy } from '../../lib/trusted-proxy.ts';
import { type AllowEntry, allowEntryText } from '../../outbound/allow-entry.ts';
import {
  allowEntries,
  choice,
  durationSeconds,
  fileMode,
  httpUrl,
  integer,
  nonEmpty,
  trustedProxies,
} from '../options.ts';

/** What YAML may hold it as. A `list` is a list there, or a text like that of the flag. */
export type YamlForm = 'text' | 'number' | 'text or number' | 'list';

export interface ValueType<T> {
  /** What stands for a value in the help. */
  readonly placeholder: string;
  readonly yaml: YamlForm;
  /**
   * @param before what was read for the same flag so far: a list goes on with it
   * @throws InvalidArgumentError saying what it must be
   */
  readonly read: (text: string, before?: T) => T;
  /** What `read` reads as the same value; empty for null. */
  readonly write: (value: T) => string;
}

export const TEXT: ValueType<string> = {
  placeholder: 'text',
  yaml: 'text',
  read: nonEmpty,
  write: (value) => value,
};

export const URL_TEXT: ValueType<string> = {
  placeholder: 'url',
  yaml: 'text',
  read: httpUrl,
  write: (value) => value,
};

/** `none` opens no port. */
export const PORT: ValueType<number | 'none'> = {
  placeholder: 'number',
  yaml: 'text or number',
  read: (text) => (text === 'none' ? text : integer(0, 65_535)(text)),
  write: String,
};

/** Of a file, as chmod takes it: 0660. */
export const FILE_MODE: ValueType<number> = {
  placeholder: 'mode',
  yaml: 'text or number',
  read: fileMode,
  write: (mode) => mode.toString(8).padStart(4, '0'),
};

export const DURATION: ValueType<number> = {
  placeholder: 'duration',
  yaml: 'text or number',
  read: durationSeconds,
  write: (seconds) => {
    if (seconds >= 3600 && seconds % 3600 === 0) return `${seconds / 3600}h`;
    if (seconds >= 60 && seconds % 60 === 0) return `${seconds / 60}m`;
    return `${seconds}s`;
  },
};

export const ALLOW_ENTRIES: ValueType<readonly AllowEntry[]> = {
  placeholder: 'entries',
  yaml: 'list',
  read: allowEntries,
  write: (entries) => entries.map(allowEntryText).join(','),
};

export const TRUSTED_PROXIES: ValueType<readonly TrustedProxy[]> = {
  placeholder: 'list',
  yaml: 'list',
  read: trustedProxies,
  write: (proxies) =>
    proxies
      .map((proxy) => (proxy.type === 'unix' ? 'unix' : networkText(proxy.address, proxy.prefixLength)))
      .join(','),
};

export function integerFrom(low: number, high: number): ValueType<number> {
  return { placeholder: 'number', yaml: 'number', read: integer(low, high), write: String };
}

export function oneOf<T extends string>(members: readonly T[]): ValueType<T> {
  return { placeholder: 'choice', yaml: 'text', read: choice(members), write: (value) => value };
}

/** Of a setting that has no value where none is given. */
export function optional<T>(type: ValueType<T>): ValueType<T | null> {
  return {
    placeholder: type.placeholder,
    yaml: type.yaml,
    read: (text) => type.read(text),
    write: (value) => (value === null ? '' : type.write(value)),
  };
}
