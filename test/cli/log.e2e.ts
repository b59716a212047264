import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ofVersion } from '../log/log-directory.ts';
import { anEvent, openTestEngine } from '../support/engine.ts';
import { foreshock, removeDirectory, temporaryDirectory } from '../support/server.ts';

const RAW_LINE = 'FATAL: password authentication failed for user "hunter2"';
const EVENTS = 200;

describe('foreshock log', () => {
  const original = temporaryDirectory();
  const copies: string[] = [];
  beforeAll(async () => {
    const engine = await openTestEngine(original, { segmentBytes: 8192 });
    const { tenantId, agentId } = await engine.newTenant('default');
    for (let n = 0; n < EVENTS; n += 1) {
      const event = anEvent({
        entity: `e-${n}`,
        rawLine: RAW_LINE,
        serviceName: n % 2 === 0 ? 'even' : 'odd',
      });
      await engine.submit({ type: 'record-events', tenantId, agentId, events: [event] });
    }
    await engine.close();
  });
  afterAll(() => [original, ...copies].forEach(removeDirectory));

  const copy = () => {
    const directory = temporaryDirectory();
    cpSync(original, directory, { recursive: true });
    copies.push(directory);
    return directory;
  };
  const segments = (directory: string) =>
    readdirSync(join(directory, 'log'))
      .filter((name) => name.endsWith('.log'))
      .sort();
  const damage = (directory: string, segment: number, offset: number) => {
    const path = join(directory, 'log', segments(directory)[segment] ?? '');
    const bytes = readFileSync(path);
    bytes[offset] = (bytes[offset] ?? 0) ^ 0x10;
    writeFileSync(path, bytes);
  };
  const log = (directory: string, ...args: string[]) => foreshock('log', ...args, '--data-dir', directory);
  const filesOf = (directory: string) =>
    Object.fromEntries(
      readdirSync(join(directory, 'log')).map((name) => [
        name,
        readFileSync(join(directory, 'log', name), 'hex'),
      ]),
    );

  it('verifies a whole log', async () => {
    const { code, stdout } = await log(original, 'verify');
    expect(stdout).toMatch(/^the log is whole: 203 commands, the last is record 203$/m);
    expect(code).toBe(0);
  });

  it('says for programs whether it is whole and what is in it, with the same exit code', async () => {
    const whole = await log(original, 'stat', '--json');
    expect(JSON.parse(whole.stdout)).toMatchObject({
      ...{ whole: true, commands: 203, damage: null, last_at: expect.stringMatching(/^20.*Z$/) },
      by_type: { 'record-events': EVENTS },
    });
    const directory = copy();
    damage(directory, 1, 300);
    const { code, stdout } = await log(directory, 'verify', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ whole: false, damage: { offset: expect.any(Number) } });
  });

  it('says what is in it', async () => {
    const { stdout } = await log(original, 'stat');
    expect(stdout).toMatch(/200 {2}record-events/);
    expect(stdout).toMatch(/1 {2}create-tenant/);
  });

  it('audits with raw lines, and exports without', async () => {
    const audit = await log(original, 'audit', '--service', 'odd');
    const events = audit.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events).toHaveLength(EVENTS / 2);
    expect(events[0]).toMatchObject({ entity: 'e-1', service_name: 'odd', raw_line: RAW_LINE });
    const { stdout } = await log(original, 'export');
    expect(stdout.trim().split('\n')).toHaveLength(203);
    expect(stdout).not.toContain('hunter2');
    expect(stdout).not.toMatch(/"hash"/);
  });

  it('names the segment and the byte of damage, and what to run', async () => {
    const directory = copy();
    damage(directory, 1, 300);
    const { code, stderr } = await log(directory, 'verify');
    expect(code).toBe(1);
    expect(stderr).toMatch(/segment-00000002\.log is damaged at byte \d+/);
    expect(stderr).toContain('foreshock log repair');
    const start = await foreshock('serve', '--port', '0', '--data-dir', directory);
    expect(start.code).toBe(1);
    expect(start.stderr).toMatch(/segment-00000002\.log is damaged at byte \d+/);
    expect(start.stderr).toContain('foreshock log repair');
  });

  it('after a crash calls damaged what a start refuses: verify, repair and backup alike', async () => {
    const directory = temporaryDirectory();
    copies.push(directory);
    const engine = await openTestEngine(directory);
    const { tenantId, agentId } = await engine.newTenant('default');
    const record = () => engine.submit({ type: 'record-events', tenantId, agentId, events: [anEvent()] });
    for (let n = 0; n < 20; n += 1) await record();
    // A sync later, what follows says that this is durable.
    await new Promise((resolve) => setTimeout(resolve, 300));
    for (let n = 0; n < 5; n += 1) await record();
    await engine.close();
    rmSync(join(directory, 'log', 'clean-shutdown'));
    const last = segments(directory).length - 1;
    const name = segments(directory)[last] ?? '';
    damage(directory, last, 200);
    await expect(openTestEngine(directory)).rejects.toThrow(/it was durable, and record \d+ follows it/);
    for (const [command, args] of [
      ['verify', []],
      ['stat', []],
      ['repair', []],
    ] as const) {
      const said = await log(directory, command, ...args);
      expect({ command, code: said.code }).toEqual({ command, code: 1 });
      expect(said.stdout + said.stderr).toContain(name);
    }
    const to = join(temporaryDirectory(), 'backup');
    copies.push(to);
    const backup = await foreshock('backup', to, '--data-dir', directory);
    expect(backup).toMatchObject({ code: 1, stderr: expect.stringContaining(name) });
    expect((await log(directory, 'repair', '--yes')).code).toBe(0);
    expect((await log(directory, 'verify')).code).toBe(0);
    await (await openTestEngine(directory)).close();
  });

  it('says what a repair costs before it does it, and keeps what it cuts', async () => {
    const directory = copy();
    damage(directory, 1, 300);
    const before = filesOf(directory);
    const plan = await log(directory, 'repair');
    expect(plan.code).toBe(1);
    expect(plan.stdout).toMatch(/(\d+) commands that can still be read behind it would be given up/);
    expect(filesOf(directory)).toEqual(before);

    const done = await log(directory, 'repair', '--yes');
    expect(done.code).toBe(0);
    const kept = readdirSync(join(directory, 'log')).filter((name) => name.endsWith('.broken'));
    expect(kept.length).toBeGreaterThan(2);
    expect((await log(directory, 'verify')).code).toBe(0);

    // What stands before the damage is served again, and can be written on.
    const engine = await openTestEngine(directory);
    expect(engine.notices).toEqual([]);
    const [tenant] = engine.state.tenants.values();
    const lost = Number(/(\d+) commands that can/.exec(plan.stdout)?.[1]);
    // One more than could still be read behind it: the damaged one itself.
    expect(tenant?.eventCount).toBe(EVENTS - lost - 1);
    await engine.close();
  });

  it('repairs a log whose end is gone though it was closed in order', async () => {
    const directory = copy();
    const last = join(directory, 'log', segments(directory).at(-1) ?? '');
    writeFileSync(last, readFileSync(last).subarray(0, -20));
    expect((await log(directory, 'verify')).stderr).toMatch(/was closed in order with record 203/);
    expect((await log(directory, 'repair', '--yes')).code).toBe(0);
    expect((await log(directory, 'verify')).code).toBe(0);
  });

  it('offers no repair of a log that a newer version has written', async () => {
    const directory = copy();
    const path = join(directory, 'log', segments(directory)[0] ?? '');
    writeFileSync(path, ofVersion(3, readFileSync(path)));
    const before = filesOf(directory);
    for (const command of ['verify', 'repair', 'stat']) {
      const { code, stderr } = await log(directory, command, ...(command === 'repair' ? ['--yes'] : []));
      expect(code).toBe(1);
      expect(stderr).toMatch(/has log format version 3, and this program reads version 2: run the Foreshock/);
      expect(stderr).not.toContain('log repair');
    }
    expect(filesOf(directory)).toEqual(before);
  });

  it('has nothing to repair in a whole log', async () => {
    const { code, stdout } = await log(copy(), 'repair', '--yes');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'there is nothing to repair\n' });
  });
});
