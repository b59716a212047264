/** The table of settings, and the file that is read by it. */
import { describe, expect, it } from 'vitest';
import { describeSettings } from '../../src/cli/settings/description.ts';
import { exampleFile } from '../../src/cli/settings/example.ts';
import { parseConfig, readTexts } from '../../src/cli/settings/file.ts';
import { SettingsRefused } from '../../src/cli/settings/problem.ts';
import { SETTINGS, settingKeys } from '../../src/cli/settings/table.ts';
import { DEFAULTS, type Settings } from '../../src/config.ts';

/** What a file sets, as values. */
function read(text: string): Partial<Record<keyof Settings, unknown>> {
  return Object.fromEntries(
    [...parseConfig('f.yaml', text)].map(([key, { texts }]) => [key, readTexts(key, texts)]),
  );
}

function problems(text: string): readonly string[] {
  try {
    parseConfig('f.yaml', text);
  } catch (error) {
    if (error instanceof SettingsRefused) return error.problems;
    throw error;
  }
  return [];
}

describe('the table of settings', () => {
  it('has every setting once, by names that flags and variables can have', () => {
    const names = settingKeys().map((key) => SETTINGS[key].name);
    expect(new Set(settingKeys())).toEqual(new Set(Object.keys(DEFAULTS)));
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[a-z]+(?:-[a-z]+)*$/.test(name))).toEqual([]);
  });

  it('says of each what it is for and what it is by default', () => {
    const silent = describeSettings().filter(({ key, help, defaultText }) => {
      return help === '' || (defaultText === '' && SETTINGS[key].example === undefined);
    });
    expect(silent).toEqual([]);
  });

  it('has the unit of no bound twice: what is written is read as the same', () => {
    for (const key of settingKeys()) expect([key, sameAfterWriting(key)]).toEqual([key, true]);
  });
});

function sameAfterWriting<K extends keyof Settings>(key: K): boolean {
  const defaults: Settings = DEFAULTS;
  const text = SETTINGS[key].type.write(defaults[key]);
  return text === '' || SETTINGS[key].type.read(text) === defaults[key];
}

describe('the example file', () => {
  const uncommented = exampleFile().replaceAll(/^#(?=[a-z-]+:)/gm, '');

  it('sets nothing as it is', () => {
    expect(read(exampleFile())).toEqual({});
  });

  it('is the defaults once its settings are taken out of their comments', () => {
    const withDefault = Object.entries(DEFAULTS).filter(([, value]) => value !== null);
    const lists = settingKeys().filter((key) => SETTINGS[key].type.yaml === 'list');
    const emptyLists = Object.fromEntries(lists.map((key) => [key, undefined]));
    expect({ ...read(uncommented) }).toEqual({ ...Object.fromEntries(withDefault), ...emptyLists });
  });

  it('has examples that can be read', () => {
    for (const [, line] of exampleFile().matchAll(/^# such as (.*)$/gm))
      expect([line, problems(line ?? '')]).toEqual([line, []]);
  });
});

describe('a file of settings', () => {
  it('is YAML', () => {
    expect(read('port: 9000 # or so\nretention: 7d\ndata-dir: /srv/foreshock\n')).toEqual({
      port: 9000,
      retentionSeconds: 7 * 86_400,
      dataDirectory: '/srv/foreshock',
    });
  });

  it('is JSON, with tabs if need be', () => {
    expect(read('{\n\t"port": 9000,\n\t"durability": "fsync"\n}')).toEqual({
      port: 9000,
      durability: 'fsync',
    });
  });

  it('may be empty, or all comments', () => {
    expect([read(''), read('# nothing\n')]).toEqual([{}, {}]);
  });

  it('lists what the flag would repeat, and takes it apart by commas as the flag does', () => {
    const listed = read('outbound-allow:\n  - alerts.internal:9093\n  - 10.0.0.0/8\n');
    expect(listed.outboundAllow).toHaveLength(2);
    expect(read('outbound-allow: alerts.internal:9093, 10.0.0.0/8')).toEqual(listed);
  });

  it.each([
    ['prot: 1', ['f.yaml:1: there is no setting prot; did you mean port?']],
    ['\n\nDATA_DIR: x', ['f.yaml:3: there is no setting DATA_DIR; did you mean data-dir?']],
    ['something-else-entirely: 1', ['f.yaml:1: there is no setting something-else-entirely']],
    ['port: 1\nport: 2', ['f.yaml:2: port stands in line 1 already']],
    [
      'port: x\nport: 2',
      [
        'f.yaml:1: port is x: it must be an integer from 0 to 65535.',
        'f.yaml:2: port stands in line 1 already',
      ],
    ],
    ['port: 65536', ['f.yaml:1: port is 65536: it must be an integer from 0 to 65535.']],
    ['port: 1e3', ['f.yaml:1: port is 1e3: it must be an integer from 0 to 65535.']],
    ['port: true', ['f.yaml:1: port must be text or a number, not true; quotes make it text']],
    ['port:', ['f.yaml:1: port has no value; leave the line out for the default']],
    ['max-streams: "1"', ['f.yaml:1: max-streams must be a number, not the text "1"']],
    ['port: [1]', ['f.yaml:1: port takes one value, not a list']],
    ['port: {a: 1}', ['f.yaml:1: port takes a value, no aliases and no settings of its own']],
    ['host: 1.10', ['f.yaml:1: host must be text, not 1.10; quotes make it text']],
    ['host: ""', ['f.yaml:1: host is empty: it must not be empty.']],
    ['durability: maybe', ['f.yaml:1: durability is maybe: Allowed choices are write, fsync.']],
    ['outbound-allow: [a.b, 3]', ['f.yaml:1: what outbound-allow lists must be text']],
    [
      'outbound-allow: [a.b, "*"]',
      [expect.stringContaining('f.yaml:1: outbound-allow is a.b, *: *: * alone is refused')],
    ],
    ['- port: 1', ['f.yaml:1: lines such as "port: 8080" are needed']],
    ['? [port]\n: 1', ['f.yaml:1: the name of a setting is needed before the colon']],
    ['host: &a x\nbase-url: *a', ['f.yaml:2: base-url takes a value, no aliases and no settings of its own']],
    ['a: &a 1\n<<: *a', [expect.stringContaining('no setting a'), expect.stringContaining('no setting <<')]],
    ['host: !!js/function x', [expect.stringContaining('f.yaml:1: Unresolved tag')]],
    ['port: 1\n---\nport: 2', [expect.stringContaining('f.yaml:2: Source contains multiple documents')]],
    ['port: 1\n\thost: x', [expect.stringMatching(/^f\.yaml:[12]: /)]],
    ['port: [1', [expect.stringMatching(/^f\.yaml:1: /)]],
  ])('%j is refused with its place', (text, sentences) => {
    expect(problems(text)).toEqual(sentences);
  });

  it.each([
    [
      'many aliases of aliases',
      'a: &a [x]\n' +
        'bcdefghij'
          .split('')
          .map((k) => `${k}: &${k} [${'*a,'.repeat(9)}]\n`)
          .join(''),
    ],
    ['very deep', '['.repeat(100_000)],
    ['very deep in blocks', '- '.repeat(100_000)],
  ])('%s is refused as any other mistake', (_, text) => {
    expect(problems(text).length).toBeGreaterThan(0);
  });
});
