/** Data that version 0.1.0 of a day before alerts were worked out has written: every later version must open it. */
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkpointDirectory } from '../../src/commands/load.ts';
import type { Rejection } from '../../src/domain/rejection.ts';
import { ManualClock } from '../../src/lib/clock.ts';
import type { Found } from '../../src/queries/queries.ts';
import { anEvent, openTestEngine } from '../support/engine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';
import { serviceContext } from '../support/window.ts';

const FIXTURE = join(import.meta.dirname, '../fixtures/data-format-1');
const answers = JSON.parse(readFileSync(join(FIXTURE, 'answers.jsonl'), 'utf8'));

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
  cpSync(join(FIXTURE, 'data'), directory, { recursive: true });
});
afterEach(() => removeDirectory(directory));

function read(answer: Found<string | Buffer> | Rejection): unknown {
  if (answer.type !== 'found') throw new Error(answer.detail);
  return JSON.parse(String(answer.json));
}

it.each([
  ['from its checkpoint', () => {}],
  ['from its log alone', () => rmSync(checkpointDirectory(directory), { recursive: true })],
])('answers as the version that wrote it did, %s', async (_, prepare) => {
  prepare();
  const { tenantId, agentId, nowMs } = answers;
  const engine = await openTestEngine(directory, {}, new ManualClock(nowMs));
  expect(engine.cleanShutdown).toBe(true);
  const { queries } = engine;
  expect(read(queries.agents(tenantId).whole())).toEqual(answers.agents);
  expect(read(queries.services(tenantId).whole())).toEqual(answers.services);
  expect(read(queries.integrations(tenantId).whole())).toEqual(answers.integrations);
  const windows = answers.services.map(({ id }: { id: string }) =>
    read(serviceContext(queries, tenantId, id)),
  );
  expect(windows).toEqual(answers.windows);
  const request = { page: 1, perPage: 10, service: null, vendor: null, eventType: null };
  const log = read(queries.agent(tenantId, agentId, request));
  const { events_last_hour } = answers.agents.find(({ id }: { id: string }) => id === agentId);
  expect(log).toEqual({
    ...answers.log,
    per_page: 10,
    total_pages: Math.ceil(answers.log.total / 10),
    // That version did not tell of it, but of their sum.
    events_by_minute: expect.toSatisfy(
      (minutes: readonly number[]) => minutes.reduce((sum, each) => sum + each, 0) === events_last_hour,
    ),
  });
  // And it can be written to.
  const outcome = await engine.submit({ type: 'record-events', tenantId, agentId, events: [anEvent()] });
  expect(outcome.type).toBe('applied');
  await engine.close();
});
