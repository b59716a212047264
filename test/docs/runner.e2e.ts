/** What the test of the documents is worth: each thing that may be wrong with one is found. */
import { afterEach, describe, expect, it } from 'vitest';
import { StopStack } from '../../src/lib/stop-stack.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';
import { leftOut, runDocument } from './document.ts';
import { Shell } from './shell.ts';

const made = new StopStack();
afterEach(() => made.run());

const SERVER = '<!-- docs: until /context -->\n```sh\nnpm start\n```\n\n';
const fenced = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\`\n`;

async function run(markdown: string): Promise<string> {
  const directory = temporaryDirectory();
  made.push(() => removeDirectory(directory));
  const shell = await Shell.open(directory, made);
  return runDocument(markdown, shell).then(
    () => 'well',
    (error: Error) => error.message,
  );
}

describe('a document', () => {
  it('is well when its commands succeed and print what it shows', async () => {
    const document = [
      SERVER,
      fenced('sh', 'export INGEST_API_KEY=fsk_ing_…'),
      fenced(
        'sh',
        `curl -sS http://127.0.0.1:8080/v1/agents/register -H "Authorization: Bearer $INGEST_API_KEY" -H 'Content-Type: application/json' -d '{"hostname":"db-1"}'\nexport AGENT_ID=…`,
      ),
      fenced(
        'json',
        '{"id":"69946b02-4c9a-52e9-a57f-ff0f23bc2e0c", …\n "hostname": "db-1", … "registered_at":"2026-11-20T15:38:22.934Z", …}',
      ),
      'Its id stays:\n',
      fenced('sh', 'echo "$AGENT_ID"\nfalse || echo done'),
      fenced('', '69946b02-4c9a-52e9-a57f-ff0f23bc2e0c\ndone'),
    ].join('\n');
    expect(await run(document)).toBe('well');
  });

  it.each([
    [
      'a command that fails',
      fenced('sh', 'true\nnpm run --silent foreshock -- sevre\ntrue'),
      'Did you mean serve?',
    ],
    ['a command in the middle', fenced('sh', 'fasle\ntrue'), 'fasle: command not found'],
    ['a variable that nothing has set', fenced('sh', 'echo $NOBODY'), 'unbound variable'],
    ['another output', `${fenced('sh', 'echo one')}\n${fenced('', 'two')}`, 'two'],
    ['more output', `${fenced('sh', 'echo one; echo two')}\n${fenced('', 'one')}`, 'printed "two"'],
    ['less output', `${fenced('sh', 'echo one')}\n${fenced('', 'one\n…\ntwo')}`, 'two'],
    ['another JSON', `${fenced('sh', `echo '{"a":1}'`)}\n${fenced('json', '{"a":2}')}`, 'it shows'],
    ['JSON that is none', fenced('json', '{"a":1,}'), 'line 1'],
    ['YAML that is none', fenced('yaml', 'a: b: c'), 'line 1'],
    ['Python that is none', fenced('python', 'def f(:'), 'SyntaxError'],
    ['TypeScript that throws', fenced('ts', "throw new Error('no');"), 'no'],
    ['a language that nobody runs', fenced('ruby', 'puts 1'), 'nobody runs a block of "ruby"'],
    ['success where it shows a failure', `<!-- docs: fails -->\n${fenced('sh', 'true')}`, 'it did not fail'],
    [
      'a comment that nobody understands',
      `<!-- docs: skipp: x -->\n${fenced('sh', 'true')}`,
      'nobody understands',
    ],
    [
      'something left out without a reason',
      `<!-- docs: skip -->\n${fenced('sh', 'true')}`,
      'nobody understands',
    ],
    [
      'a line to leave out that is not there',
      `<!-- docs: skip-line x: y -->\n${fenced('sh', 'true')}`,
      'no line to skip',
    ],
    ['an id to copy that was not printed', fenced('sh', 'export SERVICE_ID=…'), 'nothing with "id"'],
  ])('is found out for %s', async (_, markdown, sentence) => {
    expect(await run(markdown)).toContain(sentence);
  });

  it('is found out for a request that is refused', async () => {
    const missing = `${SERVER}${fenced('sh', 'curl -sS http://127.0.0.1:8080/v1/sevrices')}`;
    expect(await run(missing)).toContain('not found');
  });

  it('says what of it is not run, and why', () => {
    const markdown = `Text\n\n<!-- docs: skip: it needs root -->\n${fenced('sh', 'mount')}`;
    expect(leftOut(markdown)).toEqual([{ line: 4, reason: 'it needs root' }]);
  });
});
