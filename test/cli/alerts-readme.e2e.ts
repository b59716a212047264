/** The commands of the README's section on alerts, run as they stand there. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakePagerDuty, startFakePagerDuty } from '../support/fake-pagerduty.ts';
import { removeDirectory, type ServerProcess, startServer, temporaryDirectory } from '../support/server.ts';
import { eventually } from '../support/site.ts';

const README = readFileSync(resolve(import.meta.dirname, '../../README.md'), 'utf8');
const section = README.slice(README.indexOf('\n## Alerts'), README.indexOf('\n## Tenants and keys'));
const commands = [...section.matchAll(/```sh\n([\s\S]*?)```/g)]
  .flatMap((match) => (match[1] ?? '').trim().split('\n'))
  .filter((line) => line.startsWith('curl '));

describe('the commands of the README on alerts', () => {
  const directory = temporaryDirectory();
  let server: ServerProcess;
  let pagerDuty: FakePagerDuty;
  beforeAll(async () => {
    // As the README has them stand for the user's own.
    pagerDuty = await startFakePagerDuty({ token: 'u+example', from: 'you@example.com' });
    const flags = ['--outbound-allow', '127.0.0.1', '--pagerduty-api-url', pagerDuty.url];
    server = await startServer(directory, flags);
  });
  afterAll(async () => {
    await server.stop();
    await pagerDuty.stop();
    removeDirectory(directory);
  });

  it('make an integration, configure it, and show the alert and the note that come of an incident', async () => {
    const environment: Record<string, string> = { READ_ONLY_API_KEY: server.readOnlyKey };
    const run = (command = '') => {
      const pasted = command.replaceAll('http://127.0.0.1:8080', server.url).replace('u+…', 'u+example');
      const env = { ...process.env, ...environment };
      return JSON.parse(execFileSync('bash', ['-c', pasted], { env, encoding: 'utf8' }));
    };
    expect(commands).toHaveLength(5);
    const [create, configure, trigger, alerts, deliveries] = commands;
    const made = run(create);
    environment['INTEGRATION_ID'] = made.id;
    environment['WEBHOOK_URL'] = made.webhook_url;
    expect(run(configure).config).toEqual({
      pagerduty_token: 'u+example',
      pagerduty_from: 'you@example.com',
    });
    expect(run(trigger)).toEqual({ accepted: 1 });
    await eventually('there is a note', 5000, () => pagerDuty.notes('Q1').length === 1);
    expect(run(alerts).alerts).toMatchObject([{ title: 'too many connections', status: 'firing' }]);
    await eventually('it is listed', 5000, () => run(deliveries)[0]?.state === 'delivered');
    expect(run(deliveries)).toMatchObject([{ kind: 'note', detail: 'answered 200' }]);
  });

  it('are told of with every key of the config that means something to us', () => {
    const schemas = readFileSync(resolve(import.meta.dirname, '../../src/http/schemas.ts'), 'utf8');
    const [, keys = ''] = /config: z\.looseObject\(\{([\s\S]*?)\n {2}\}\)/.exec(schemas) ?? [];
    const names = [...keys.matchAll(/^ +(\w+):/gm)].map((match) => match[1] ?? '');
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) expect(section).toContain(`\`${name}\``);
  });
});
