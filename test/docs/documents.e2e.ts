/** Everything in the documents that can be run is run: `markdown.ts` says how, `shell.ts` what is replaced. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { StopStack } from '../../src/lib/stop-stack.ts';
import { startFakePagerDuty } from '../support/fake-pagerduty.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';
import { leftOut, runDocument } from './document.ts';
import { Shell } from './shell.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DOCUMENTS = [
  'README.md',
  'CHANGELOG.md',
  'bench/README.md',
  'test/README.md',
  ...readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `src/${name}`)
    .sort(),
];
const PACKAGED = /^(?:README|src\/docs\/.*)\.md$/;
const DOCUMENT_DEADLINE_MS = 300_000;

const made = new StopStack();
afterEach(() => made.run());

describe.each(DOCUMENTS)('%s', (path) => {
  const markdown = readFileSync(join(ROOT, path), 'utf8');

  it('does what it says', { timeout: DOCUMENT_DEADLINE_MS }, async () => {
    const directory = temporaryDirectory();
    made.push(() => removeDirectory(directory));
    const pagerDuty = await startFakePagerDuty({ token: 'u+example', from: 'you@example.com' });
    made.push(() => pagerDuty.stop());
    const environment = {
      FORESHOCK_OUTBOUND_ALLOW: '127.0.0.1',
      FORESHOCK_PAGERDUTY_API_URL: pagerDuty.url,
      FORESHOCK_PAGERDUTY_EVENTS_URL: pagerDuty.url,
    };
    await runDocument(markdown, await Shell.open(directory, made, environment));
    expect(pagerDuty.violations).toEqual([]);
  });

  it('links to what is there', () => {
    const links = [...markdown.matchAll(/\]\((?!https?:|mailto:)([^)#]*)(?:#([\w-]*))?\)/g)];
    const broken = links
      .map(([, file = '', anchor]) => ({
        target: join(ROOT, file === '' ? path : join(dirname(path), file)),
        anchor,
      }))
      .filter(
        ({ target, anchor }) =>
          !existsSync(target) || (anchor !== undefined && !anchorsOf(target).has(anchor)),
      );
    expect(broken).toEqual([]);
  });

  it.runIf(PACKAGED.test(path))('links to what an installed package has too', () => {
    const links = [...markdown.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, file = '']) =>
      join(dirname(path), file),
    );
    const files = ['README.md', ...manifest.files];
    expect(
      links.filter((link) => !files.some((name) => link === name || link.startsWith(`${name}/`))),
    ).toEqual([]);
  });

  // Not run, and said.
  for (const { line, reason } of leftOut(markdown)) it.skip(`line ${line}: ${reason}`, () => {});
});

/** As GitHub makes them of headings. */
function anchorsOf(file: string): Set<string> {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...headings].map(([, text = '']) =>
      text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
