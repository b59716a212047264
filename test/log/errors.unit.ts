import { expect, it } from 'vitest';
import { LogDamaged, LogUnavailable, SyncFailed } from '../../src/log/errors.ts';

const cause = new Error('ENOSPC: no space left');

it.each([
  [new LogUnavailable(cause), 'LogUnavailable: the log cannot be written: ENOSPC: no space left'],
  [new LogUnavailable('full'), 'LogUnavailable: the log cannot be written: full'],
  [new SyncFailed(cause), 'SyncFailed: the log could not be made durable: ENOSPC: no space left'],
  [
    new LogDamaged('segment-00000001.log', 64, 'checksum mismatch'),
    'LogDamaged: segment-00000001.log is damaged at byte 64: checksum mismatch',
  ],
])('an error of the log says what is wrong: %s', (error, said) => {
  expect(String(error)).toBe(said);
});

it('an error of the disk is kept as the cause', () => {
  expect(new LogUnavailable(cause).cause).toBe(cause);
  expect(new SyncFailed(cause).cause).toBe(cause);
});
