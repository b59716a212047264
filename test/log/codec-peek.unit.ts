/** What is read of a record without decoding it. */
import { describe, expect, it } from 'vitest';
import type { Command } from '../../src/domain/command.ts';
import { agentId, tenantId } from '../../src/domain/ids.ts';
import { decodeCommand, encodeCommand, formsOf, isOfTenant, isOfType } from '../../src/log/command-codec.ts';
import { FRAME_BYTES } from '../../src/log/record.ts';
import { anEvent } from '../support/engine.ts';
import { bytesOf } from './records.ts';

const TENANT = '0f8fad5b-d9cb-469f-a165-70867728950e';
const OTHER = '0f8fad5b-d9cb-469f-a165-70867728950f';

const events = (tenant: string): Command => ({
  type: 'record-events',
  tenantId: tenantId(tenant),
  agentId: agentId('a'),
  events: [anEvent()],
});
const heartbeat = (tenant: string): Command => ({
  type: 'heartbeat',
  tenantId: tenantId(tenant),
  agentId: agentId('a'),
});

/** A record among other bytes, as a walk finds it. */
function record(command: Command): { readonly bytes: Buffer; readonly start: number; readonly end: number } {
  const encoded = bytesOf(encodeCommand(command));
  const bytes = Buffer.concat([Buffer.from('before'), encoded, Buffer.from(TENANT)]);
  const start = 'before'.length + FRAME_BYTES;
  return { bytes, start, end: 'before'.length + encoded.length };
}

describe.each([events, heartbeat])('a record', (commandOf) => {
  it('tells of which type its command is', () => {
    const { bytes, start } = record(commandOf(TENANT));
    const { type } = commandOf(TENANT);
    for (const each of ['record-events', 'heartbeat', 'pass-time'] as const) {
      expect(isOfType(each, bytes, start)).toBe(each === type);
    }
  });

  it.each([TENANT, 'x'.repeat(31), 'x'.repeat(32)])('tells whose it is: %s', (tenant) => {
    const { bytes, start, end } = record(commandOf(tenant));
    expect(isOfTenant(formsOf(tenantId(tenant)), bytes, start, end)).toBe(true);
    for (const other of [OTHER, `${tenant.slice(0, -1)}y`]) {
      expect(isOfTenant(formsOf(tenantId(other)), bytes, start, end)).toBe(false);
    }
  });

  it('is nobody’s where it ends before the name of its tenant does', () => {
    const { bytes, start } = record(commandOf(TENANT));
    const forms = formsOf(tenantId(TENANT));
    const ends = forms
      .map((form) => ({ form, at: bytes.indexOf(form) }))
      .filter(({ at }) => at === start + 2);
    const end = start + 2 + (ends[0]?.form.length ?? 0);
    expect(ends.length).toBe(1);
    expect(isOfTenant(forms, bytes, start, end)).toBe(true);
    expect(isOfTenant(forms, bytes, start, end - 1)).toBe(false);
  });
});

describe('a record that is no command of ours', () => {
  it('is an error that says so', () => {
    const { bytes, start, end } = record(heartbeat(TENANT));
    const later = Buffer.from(bytes).fill(0x7f, start + 1, start + 2);
    expect(() => decodeCommand(later, start, end)).toThrow(
      'command code 127: the log was written by a later version',
    );
    const number = Buffer.from([5]);
    expect(() => decodeCommand(number, 0, 1)).toThrow('a record that holds no command');
  });
});
