import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { leaveMark, readMark, removeMark } from '../../src/log/shutdown-mark.ts';
import type { DiskCall } from './faulty-disk.ts';
import { LogDirectory, MARK } from './log-directory.ts';

let directory: LogDirectory;
let calls: DiskCall['name'][];

beforeEach(() => {
  directory = new LogDirectory();
  calls = [];
  directory.disk.judge = ({ name }) => {
    calls.push(name);
    return undefined;
  };
});

afterEach(() => directory.discard());

describe('the mark of a clean shutdown', () => {
  it('is whole and durable before it has its name, and its name is durable too', () => {
    leaveMark(directory.disk, directory.path, 42);
    expect(calls).toEqual(['create', 'write', 'sync', 'rename', 'sync-directory']);
    expect(directory.names()).toEqual([MARK]);
    expect(readMark(directory.disk, directory.path)).toBe(42);
    expect(directory.disk.openFiles).toEqual([]);
  });

  it('is gone durably: one that came back with the power would call that a clean shutdown', () => {
    removeMark(directory.disk, directory.path);
    expect(calls).toEqual([]);
    leaveMark(directory.disk, directory.path, 42);
    calls = [];
    removeMark(directory.disk, directory.path);
    expect(calls).toEqual(['sync-directory']);
    expect(readMark(directory.disk, directory.path)).toBeUndefined();
  });

  it('leaves nothing open where the disk does not take it', () => {
    directory.disk.judge = ({ name }) => (name === 'write' ? { code: 'ENOSPC' } : undefined);
    expect(() => leaveMark(directory.disk, directory.path, 42)).toThrow('ENOSPC');
    expect(directory.disk.openFiles).toEqual([]);
  });
});
