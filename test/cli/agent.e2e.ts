/** The quick start of the README: a real server, a real log, and the window that comes of it. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ForeshockClient } from '../../src/client/client.ts';
import {
  foreshock,
  removeDirectory,
  type ServerProcess,
  startServer,
  temporaryDirectory,
} from '../support/server.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures');

describe('foreshock agent --plugin postgresql', () => {
  const directory = temporaryDirectory();
  let server: ServerProcess;
  let reader: ForeshockClient;
  beforeAll(async () => {
    server = await startServer(directory);
    reader = new ForeshockClient({ baseUrl: server.url, apiKey: server.readOnlyKey });
  });
  afterAll(async () => {
    await server.stop();
    removeDirectory(directory);
  });

  const runAgent = (format: string, service: string) =>
    foreshock(
      'agent',
      ...['--plugin', 'postgresql', '--file', join(FIXTURES, `postgresql-15.${format}`)],
      ...['--service', service, '--server', server.url, '--key', server.ingestKey],
    );

  it.each(['log', 'csv', 'jsonl'])('fills the window of the database from a real %s', async (format) => {
    const service = `orders-db-${format}`;
    const { code, stdout } = await runAgent(format, service);
    expect(stdout).toMatch(/\d+ lines read, 20 events sent\n$/);
    expect(code).toBe(0);

    const found = (await reader.listServices()).find(({ name }) => name === service);
    const window = await reader.showServiceContext(found?.id ?? '');
    expect(window.restart_events[0]).toMatchObject({
      vendor: 'postgresql',
      old_value: 'shut down',
      new_value: 'ready',
      timestamp: '2026-11-20T15:38:22.934Z',
    });
    expect(window.saturation_events.map(({ entity }) => entity)).toContain('connections');
    expect(window.flag_change_events).toContainEqual(
      expect.objectContaining({
        entity: 'log_min_duration_statement',
        old_value: '250ms',
        new_value: 'default',
      }),
    );
  });

  it('is seen, with its events, by the one who reads', async () => {
    const [agent] = await reader.listAgents();
    expect(agent).toMatchObject({ status: 'live', agent_version: '0.1.0', events_last_hour: 60 });
    const page = await reader.showAgent(agent?.id ?? '', { event_type: 'restart', per_page: 50 });
    expect(page).toMatchObject({ total: 15, total_pages: 1, filter_vendors: ['postgresql'] });
  });

  it('ends with 1 and the reason when the key is refused, and never prints the key', async () => {
    const { code, stdout, stderr } = await foreshock(
      'agent',
      ...['--plugin', 'postgresql', '--file', join(FIXTURES, 'postgresql-15.log')],
      ...['--server', server.url, '--key', `${server.ingestKey.slice(0, -1)}_`],
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/the API key is not valid/);
    expect(stdout + stderr).not.toContain(server.ingestKey.slice(8, 40));
  });

  it('ends with 1 and the reason when there is no such file', async () => {
    const { code, stderr } = await foreshock(
      'agent',
      ...[
        '--plugin',
        'postgresql',
        '--file',
        '/nowhere/postgresql.log',
        '--server',
        server.url,
        '--key',
        server.ingestKey,
      ],
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/no such file/);
  });
});
