/**
 * The configuration file: YAML 1.2, of which JSON is a part; one line a setting, named as its flag.
 *
 * | what is refused                    | why                                                                    |
 * | ---------------------------------- | ---------------------------------------------------------------------- |
 * | a key twice                        | one of them would be ignored                                           |
 * | a value of another type            | `host: 1.10` is the number 1.1 to YAML                                 |
 * | a key without a value              | nobody can tell whether it is the default that was meant               |
 * | aliases (`*name`), tags, documents | nothing here is long enough to need them, and bombs are made of aliases |
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { closestMatch } from 'leven';
import { isMap, isScalar, isSeq, LineCounter, type Pair, parseDocument, type Scalar } from 'yaml';
import type { Settings } from '../../config.ts';
import { SettingsRefused } from './problem.ts';
import { SETTINGS, settingKeys } from './table.ts';
import type { YamlForm } from './value-type.ts';

export interface FileSetting {
  /** The value as the flag would have it, of a list each item. */
  readonly texts: readonly string[];
  readonly line: number;
}

export type FileSettings = ReadonlyMap<keyof Settings, FileSetting>;

/** A hundred times what all settings with their help come to. */
const MAX_FILE_BYTES = 1024 * 1024;

/** @throws SettingsRefused with a sentence for each thing that is wrong, and where */
export function readConfigFile(path: string): FileSettings {
  return parseConfig(path, readText(path));
}

/** @param path what the text is called in sentences */
export function parseConfig(path: string, text: string): FileSettings {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false });
  const lineAt = (offset: number | undefined) => lines.linePos(offset ?? 0).line;
  const [fault] = [...document.errors, ...document.warnings];
  // The first alone: those that follow are mostly made by it.
  if (fault !== undefined) throw new SettingsRefused([`${path}:${lineAt(fault.pos[0])}: ${fault.message}`]);
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return new Map();
  if (!isMap(contents)) {
    throw new SettingsRefused([
      `${path}:${lineAt(contents.range[0])}: lines such as "port: 8080" are needed`,
    ]);
  }

  const found = new Map<keyof Settings, FileSetting>();
  const linesOf = new Map<keyof Settings, number>();
  const problems: string[] = [];
  for (const pair of contents.items) {
    const line = lineAt(startOf(pair.key));
    try {
      const key = keyOf(pair);
      const { name, type } = SETTINGS[key];
      const before = linesOf.get(key);
      if (before !== undefined) throw new InvalidArgumentError(`${name} stands in line ${before} already`);
      linesOf.set(key, line);
      const texts = textsOf(name, type.yaml, pair.value);
      checkTexts(key, texts);
      found.set(key, { texts, line });
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      problems.push(`${path}:${line}: ${error.message}`);
    }
  }
  if (problems.length > 0) throw new SettingsRefused(problems);
  return found;
}

/** Reads texts as flags given one after the other would be read. */
export function readTexts<K extends keyof Settings>(
  key: K,
  texts: readonly string[],
): Settings[K] | undefined {
  const { read } = SETTINGS[key].type;
  return texts.reduce<Settings[K] | undefined>((before, text) => read(text, before), undefined);
}

function checkTexts(key: keyof Settings, texts: readonly string[]): void {
  try {
    readTexts(key, texts);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new InvalidArgumentError(
      `${SETTINGS[key].name} is ${texts.join(', ') || 'empty'}: ${error.message}`,
    );
  }
}

function readText(path: string): string {
  const refused = (sentence: string) =>
    new SettingsRefused([`the configuration file ${path} cannot be read: ${sentence}`]);
  let bytes: Buffer;
  try {
    bytes = readAtMost(path, MAX_FILE_BYTES + 1);
  } catch (error) {
    throw refused(error instanceof Error ? error.message : String(error));
  }
  if (bytes.length > MAX_FILE_BYTES) throw refused(`it is larger than ${MAX_FILE_BYTES} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refused('it is not UTF-8');
  }
}

/** Of a device or a pipe nobody knows how much would come. */
function readAtMost(path: string, maxBytes: number): Buffer {
  const bytes = Buffer.alloc(maxBytes);
  const fd = openSync(path, 'r');
  try {
    let length = 0;
    for (let read = -1; read !== 0 && length < maxBytes; length += read) {
      read = readSync(fd, bytes, length, maxBytes - length, null);
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(fd);
  }
}

function keyOf({ key }: Pair): keyof Settings {
  const name = isScalar(key) ? String(key.value) : '';
  if (name === '') throw new InvalidArgumentError('the name of a setting is needed before the colon');
  const found = settingKeys().find((each) => SETTINGS[each].name === name);
  if (found !== undefined) return found;
  const names = settingKeys().map((each) => SETTINGS[each].name);
  const nearest = closestMatch(name.toLowerCase().replaceAll('_', '-'), names, { maxDistance: 4 });
  const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  throw new InvalidArgumentError(`there is no setting ${name}${hint}`);
}

function textsOf(name: string, form: YamlForm, value: unknown): readonly string[] {
  if (isSeq(value) && form === 'list') {
    return value.items.map((item) => {
      if (isScalar(item) && typeof item.value === 'string') return item.value;
      throw new InvalidArgumentError(`what ${name} lists must be text`);
    });
  }
  if (isSeq(value)) throw new InvalidArgumentError(`${name} takes one value, not a list`);
  if (!isScalar(value))
    throw new InvalidArgumentError(`${name} takes a value, no aliases and no settings of its own`);
  if (value.value === null) {
    throw new InvalidArgumentError(`${name} has no value; leave the line out for the default`);
  }
  return [textOf(name, form, value)];
}

function textOf(name: string, form: YamlForm, { value, source }: Scalar): string {
  if (typeof value === 'string') {
    if (form !== 'number') return value;
    throw new InvalidArgumentError(`${name} must be a number, not the text "${value}"`);
  }
  // As it is written: 0660 and 1e3 are numbers to YAML too.
  if (typeof value === 'number' && form.endsWith('number')) return source ?? String(value);
  throw new InvalidArgumentError(
    `${name} must be ${form.replace('number', 'a number')}, not ${source ?? value}${form === 'number' ? '' : '; quotes make it text'}`,
  );
}

function startOf(node: unknown): number | undefined {
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined;
  return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : undefined;
}
