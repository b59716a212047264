/** The table of settings as flags, variables and documents show it. */
import { DEFAULTS, type Settings } from '../../config.ts';
import { variableOf } from '../options.ts';
import { SETTINGS, settingKeys } from './table.ts';
import type { YamlForm } from './value-type.ts';

export interface SettingDescription {
  readonly key: keyof Settings;
  readonly name: string;
  /** With what stands for its value: `--port <number>`. */
  readonly flag: string;
  readonly variable: string;
  readonly help: string;
  /** Empty where there is none. */
  readonly defaultText: string;
  readonly yaml: YamlForm;
}

/** Every setting, in the order of the table. */
export function describeSettings(): readonly SettingDescription[] {
  return settingKeys().map((key) => describeSetting(key));
}

export function describeSetting<K extends keyof Settings>(key: K): SettingDescription {
  const { name, placeholder, help, type, defaultText } = SETTINGS[key];
  const defaults: Settings = DEFAULTS;
  return {
    key,
    name,
    flag: `--${name} <${placeholder ?? type.placeholder}>`,
    variable: variableOf(name),
    help,
    defaultText: defaultText ?? type.write(defaults[key]),
    yaml: type.yaml,
  };
}
