/** Which settings hold: a flag before its environment variable, that before the file, and that before the default. */
import type { Command } from 'commander';
import { checkSettings, DEFAULTS, type Settings } from '../../config.ts';
import { option } from '../options.ts';
import { describeSetting, describeSettings } from './description.ts';
import { type FileSettings, readConfigFile, readTexts } from './file.ts';
import { SettingsRefused } from './problem.ts';
import { SETTINGS, settingKeys } from './table.ts';

/** `default`, `flag`, the name of a variable, or file:line. */
export type Origin = string;

export interface Effective {
  readonly settings: Settings;
  readonly origins: ReadonlyMap<keyof Settings, Origin>;
}

export function addSettings(command: Command): Command {
  command.addOption(option('--config <file>', 'a file of settings, YAML or JSON: foreshock config example'));
  for (const key of settingKeys()) addSetting(command, key);
  return command;
}

function addSetting<K extends keyof Settings>(command: Command, key: K): void {
  const { type, defaultText } = SETTINGS[key];
  const { flag, help } = describeSetting(key);
  const values: Settings = DEFAULTS;
  const value = values[key];
  const made = option(flag, help).argParser(type.read);
  if (value !== null) made.default(value, defaultText ?? type.write(value));
  else if (defaultText !== undefined) made.description = `${help} (default: ${defaultText})`;
  command.addOption(made);
}

/** @throws SettingsRefused where they cannot be read, or cannot work together */
export function effectiveSettings(command: Command): Effective {
  const { config } = command.opts<{ readonly config?: string }>();
  const file: FileSettings = config === undefined ? new Map() : readConfigFile(config);
  const effective = resolve(command, file, config ?? '');
  try {
    checkSettings(effective.settings);
  } catch (error) {
    if (error instanceof RangeError) throw new SettingsRefused([error.message]);
    throw error;
  }
  return effective;
}

function resolve(command: Command, file: FileSettings, path: string): Effective {
  const settings: Writable = { ...DEFAULTS };
  const origins = new Map<keyof Settings, Origin>();
  for (const { key, variable } of describeSettings()) {
    const attribute = command.options.find(({ envVar }) => envVar === variable)?.attributeName() ?? '';
    const source = command.getOptionValueSource(attribute);
    const inFile = file.get(key);
    if (source === 'cli' || source === 'env') {
      put(settings, key, command.getOptionValue(attribute));
      origins.set(key, source === 'cli' ? 'flag' : variable);
    } else if (inFile !== undefined) {
      putTexts(settings, key, inFile.texts);
      origins.set(key, `${path}:${inFile.line}`);
    } else origins.set(key, 'default');
  }
  // Whoever names a socket and no address means the socket alone.
  const isAlone = origins.get('host') === 'default' && origins.get('port') === 'default';
  if (settings.socket !== null && isAlone) settings.port = 'none';
  return { settings, origins };
}

type Writable = { -readonly [K in keyof Settings]: Settings[K] };

function put<K extends keyof Settings>(into: Writable, key: K, value: Settings[K]): void {
  into[key] = value;
}

function putTexts<K extends keyof Settings>(into: Writable, key: K, texts: readonly string[]): void {
  const value = readTexts(key, texts);
  if (value !== undefined) put(into, key, value);
}
