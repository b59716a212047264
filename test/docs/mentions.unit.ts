/** What the prose of the documents names is there: flags, variables, metrics, routes, and the words of errors. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tableOfRoutes } from '../support/description.ts';
import { blocksOf } from './markdown.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const reference = read('src/docs/reference.md');
const GUIDES = [
  'README.md',
  ...['operators-guide', 'agent-writers-guide', 'questions'].map((name) => `src/docs/${name}.md`),
];

/** Of npm, of curl, of the agent in Python. */
const OF_OTHERS = new Set(['--silent', '--retry', '--once', '--unix-socket', '--version', '--help']);

const found = (text: string, pattern: RegExp): string[] => [
  ...new Set([...text.matchAll(pattern)].map(([whole]) => whole)),
];

describe.each(GUIDES)('%s', (path) => {
  const text = read(path);
  const prose = blocksOf(text).reduce((rest, block) => rest.replace(block.text, ''), text);

  it('names flags that there are', () => {
    const flags = found(prose, /(?<![\w-])--[a-z][a-z-]+/g).filter((flag) => !OF_OTHERS.has(flag));
    expect(flags.filter((flag) => !new RegExp(`\`${flag}[ \`]`).test(reference))).toEqual([]);
  });

  it('names variables and metrics that there are', () => {
    const names = found(text, /\b(?:FORESHOCK|foreshock)_[A-Za-z_]+(?<!_)/g);
    expect(names.filter((name) => !reference.includes(`\`${name}\``))).toEqual([]);
  });

  it('names routes that there are', () => {
    const routes = tableOfRoutes().map((route) => new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`));
    const paths = found(text, /(?<=[` ]|8080)\/(?:v1|webhooks)\/[\w{}<>/$-]+/g).map((each) =>
      each.replace(/[?].*/, ''),
    );
    expect(paths.filter((each) => !routes.some((route) => route.test(each)))).toEqual([]);
  });
});

it('the operator’s guide quotes errors as they are', () => {
  const guide = read('src/docs/operators-guide.md');
  const table = guide.slice(guide.indexOf('| status | says | do |'), guide.indexOf('## Security'));
  const source = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(`src/${name}`))
    .join('\n');
  const said = [...table.matchAll(/^\| \d{3} \| (.*?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, phrase = '']) =>
      phrase.split('…').map((part) => part.trim()),
    ),
  );
  expect(said.length).toBeGreaterThan(25);
  expect(said.filter((phrase) => !source.includes(phrase))).toEqual([]);
});
