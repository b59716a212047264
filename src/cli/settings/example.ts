/** A configuration file to begin with: every setting with what it is for, at its default and commented out. */
import { stringify } from 'yaml';
import { DEFAULTS, type Settings } from '../../config.ts';
import { SETTINGS, settingKeys } from './table.ts';

const HEAD = `# Settings of Foreshock. Take the # from the line of a setting to give it another value, then:
#   foreshock config check --config FILE
#   foreshock serve --config FILE
# A flag (--port 9000) wins over its environment variable (FORESHOCK_PORT=9000), and that over this file.
`;

export function exampleFile(): string {
  return [HEAD, ...settingKeys().map(entry)].join('\n');
}

function entry<K extends keyof Settings>(key: K): string {
  const { name, help, type, defaultText, example } = SETTINGS[key];
  const defaults: Settings = DEFAULTS;
  const value = type.write(defaults[key]);
  const comments = [
    help,
    ...(defaultText === undefined ? [] : [`default: ${defaultText}`]),
    ...(example === undefined ? [] : [`such as ${name}: ${example}`]),
  ];
  const isSet = value !== '' || type.yaml === 'list';
  const line = isSet ? [`#${name}: ${valueText(value, type.yaml === 'list')}`] : [];
  return [...comments.map((comment) => `# ${comment}`), ...line, ''].join('\n');
}

function valueText(value: string, isList: boolean): string {
  if (isList) return stringify(value === '' ? [] : value.split(','), { collectionStyle: 'flow' }).trim();
  return /^\d+$/.test(value) ? value : stringify(value, { lineWidth: 0 }).trim();
}
