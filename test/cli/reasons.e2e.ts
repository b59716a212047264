/** What goes wrong at 3 a.m.: each message says what, why, and what to do. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { foreshock, removeDirectory, temporaryDirectory } from '../support/server.ts';

const directory = temporaryDirectory();
afterAll(() => removeDirectory(directory));
const file = join(directory, 'file');
writeFileSync(file, '');
const missing = join(directory, 'missing');
const KEY = `fsk_ing_${'a'.repeat(49)}`;
const agent = ['agent', '--plugin', 'postgresql', '--key', KEY, '--server', 'http://127.0.0.1:1'];

describe('a command that fails', () => {
  it.each([
    [
      ['serve', '--port', '0', '--data-dir', file],
      'it is a file, and a directory is needed; give another path',
    ],
    [
      ['serve', '--port', '0', '--host', '192.0.2.1', '--data-dir', missing],
      'this machine has no such address; give --host',
    ],
    [
      ['keys', 'list', '--data-dir', directory],
      'holds no data of Foreshock, and no server runs on it; give its --data-dir',
    ],
    [
      ['log', 'verify', '--data-dir', join(directory, 'nowhere')],
      'there is no such file or directory (scandir); look for',
    ],
    [['log', 'stat', '--data-dir', directory], 'holds no data of Foreshock; give its --data-dir'],
    [['backup', missing, '--data-dir', directory], 'holds no data of Foreshock'],
    [['restore', directory, '--data-dir', missing], 'holds no data of Foreshock'],
    [[...agent, '--file', file], 'is the server running, and --server its address?'],
  ])('%j says what, why and what to do', async (args, sentence) => {
    const { code, stdout, stderr } = await foreshock(...args);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(sentence);
  });

  it('does not make a data directory of a mistyped one', async () => {
    await foreshock('keys', 'list', '--data-dir', directory);
    expect(existsSync(join(directory, 'log'))).toBe(false);
  });
});
