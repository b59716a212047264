/** Backups of a server that goes on serving, and what is restored from them. */
import { appendFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { register } from '../http/operations.ts';
import { anEvent, openTestEngine } from '../support/engine.ts';
import { bodyOf, eventBody, TestServer } from '../support/http.ts';
import { foreshock, removeDirectory, temporaryDirectory } from '../support/server.ts';

const directories: string[] = [];
const newDirectory = () => {
  const directory = temporaryDirectory();
  directories.push(directory);
  return directory;
};
afterEach(() => directories.splice(0).forEach(removeDirectory));

describe('foreshock backup', () => {
  it('of a server under load holds what was acknowledged before it began, in order and without a gap', async () => {
    const server = await TestServer.start('--segment-bytes', '20000', '--checkpoint-segments', '1');
    const { tenant } = server;
    const agent = await register(server, tenant.ingest);
    let sent = 0;
    let isLoading = true;
    const load = (async () => {
      while (isLoading) {
        const event = eventBody({ entity: `e-${sent}` });
        expect((await server.http.post('/v1/events', tenant.ingest, event)).status).toBe(201);
        sent += 1;
      }
    })();
    while (sent < 200) await new Promise((resolve) => setTimeout(resolve, 5));
    const to = join(newDirectory(), 'backup');
    const before = sent;
    const made = await foreshock('backup', to, '--data-dir', server.process.dataDirectory, '--json');
    isLoading = false;
    await load;
    expect(made).toMatchObject({ code: 0 });
    const restored = join(newDirectory(), 'data');
    expect(await foreshock('restore', to, '--data-dir', restored)).toMatchObject({ code: 0 });
    await server.stop();

    const engine = await openTestEngine(restored);
    const [key] = [...engine.state.keysByHash.values()].filter(({ kind }) => kind === 'read-only');
    const request = { page: 1, perPage: 100, service: null, vendor: null, eventType: null };
    const log = engine.queries.agent(key?.tenantId ?? (agent.tenant_id as never), agent.id, request);
    const { total, events } = JSON.parse(log.type === 'found' ? log.json : '{}');
    expect(total).toBeGreaterThanOrEqual(before);
    expect(total).toBeLessThanOrEqual(sent);
    expect(events[0].entity).toBe(`e-${total - 1}`);
    await engine.close();
  }, 60_000);

  it('cuts off a record that was being written', async () => {
    const from = newDirectory();
    const engine = await openTestEngine(from);
    const { tenantId, agentId } = await engine.newTenant('default');
    await engine.submit({ type: 'record-events', tenantId, agentId, events: [anEvent()] });
    await engine.close();
    appendFileSync(join(from, 'log', 'segment-00000001.log'), Buffer.alloc(50, 7));
    const to = join(newDirectory(), 'backup');
    expect(await foreshock('backup', to, '--data-dir', from)).toMatchObject({ code: 0 });
    const verdict = await foreshock('log', 'verify', '--data-dir', to);
    expect(verdict.code).toBe(0);
    expect(verdict.stdout).not.toContain('unfinished');
  });

  it('is refused where something lies already, and of a directory that holds no data', async () => {
    const from = newDirectory();
    await (await openTestEngine(from)).close();
    const full = newDirectory();
    writeFileSync(join(full, 'mine.txt'), 'mine');
    expect(await foreshock('backup', full, '--data-dir', from)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not empty'),
    });
    expect(readdirSync(full)).toEqual(['mine.txt']);
    expect(await foreshock('backup', join(from, 'backup'), '--data-dir', from)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`lies in ${from}`),
    });
    expect(readdirSync(from)).not.toContain('backup');
    const to = join(newDirectory(), 'backup');
    expect(await foreshock('backup', to, '--data-dir', newDirectory())).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('holds no data of Foreshock'),
    });
  });

  it('of a damaged log says so, and is no backup', async () => {
    const from = newDirectory();
    const engine = await openTestEngine(from, { segmentBytes: 4096 });
    const { tenantId, agentId } = await engine.newTenant('default');
    for (let n = 0; n < 60; n += 1) {
      await engine.submit({ type: 'record-events', tenantId, agentId, events: [anEvent()] });
    }
    await engine.close();
    writeFileSync(join(from, 'log', 'segment-00000001.log'), Buffer.alloc(300), { flag: 'r+' });
    const to = join(newDirectory(), 'backup');
    const made = await foreshock('backup', to, '--data-dir', from);
    expect(made).toMatchObject({ code: 1, stderr: expect.stringContaining('segment-00000001.log') });
    expect(existsSync(to)).toBe(true);
  });
});

describe('foreshock restore', () => {
  it('does not touch a data directory that is in use', async () => {
    const from = newDirectory();
    await (await openTestEngine(from)).close();
    const server = await TestServer.start();
    const answer = await foreshock('restore', from, '--data-dir', server.process.dataDirectory);
    expect(answer).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });
    expect(bodyOf(await server.http.get('/v1/agents', server.tenant.readOnly))).toEqual([]);
    await server.stop();
  });
});
