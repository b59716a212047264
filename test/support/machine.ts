/** What this machine lets a test do to it: mounts, power cuts, injected faults, a clock of its own. */
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StopStack } from '../../src/lib/stop-stack.ts';
import { removeDirectory, temporaryDirectory } from './server.ts';

/** mkfs and losetup live where a plain user's PATH does not look. */
const ENVIRONMENT = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };

export function run(command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, {
    env: ENVIRONMENT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function works(command: string, ...args: readonly string[]): boolean {
  try {
    run(command, ...args);
    return true;
  } catch {
    return false;
  }
}

export const FAKETIME_LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

const CHECKS = {
  root: ['not root', () => process.getuid?.() === 0],
  tmpfs: ['no tmpfs can be mounted', canMountTmpfs],
  ext4: ['no ext4 can be made and mounted on a loop device', canMountExt4],
  perl: ['no perl to make an ioctl with', () => works('perl', '-e', '1')],
  fsfreeze: ['no fsfreeze', () => works('fsfreeze', '--version')],
  strace: [
    'no strace that injects faults',
    () => works('strace', '-D', '-f', '-o', '/dev/null', '-e', 'inject=fdatasync:error=EIO:when=9', 'true'),
  ],
  prlimit: ['no prlimit', () => works('prlimit', '--version')],
  faketime: ['no libfaketime (Debian package faketime)', () => existsSync(FAKETIME_LIBRARY)],
} as const satisfies Record<string, readonly [reason: string, check: () => boolean]>;

/** Why tests that need these cannot run here, or undefined where they can. Says so once on standard error. */
export function missing(...needs: readonly (keyof typeof CHECKS)[]): string | undefined {
  for (const need of needs) {
    const [reason, check] = CHECKS[need];
    if (process.platform === 'linux' && check()) continue;
    const sentence = process.platform === 'linux' ? reason : 'not Linux';
    process.stderr.write(`skipped: ${sentence}\n`);
    return sentence;
  }
  return undefined;
}

function canMountTmpfs(): boolean {
  const directory = temporaryDirectory();
  const mounted = works('mount', '-t', 'tmpfs', '-o', 'size=64k', 'foreshock-probe', directory);
  if (mounted) unmount(directory);
  removeDirectory(directory);
  return mounted;
}

function canMountExt4(): boolean {
  const directory = temporaryDirectory();
  try {
    makeExt4(directory).unmount();
    return true;
  } catch {
    return false;
  } finally {
    removeDirectory(directory);
  }
}

/** A small file system in memory; gone when `made` is stopped. */
export function mountTmpfs(made: StopStack, sizeBytes: number): string {
  const directory = temporaryDirectory();
  made.push(() => removeDirectory(directory));
  run('mount', '-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'foreshock-test', directory);
  made.push(() => unmount(directory));
  return directory;
}

export interface Ext4 {
  readonly mountPoint: string;
  /** Nothing of what is in memory alone reaches the disk any more, as when the power fails. */
  cutPower(): void;
  /** After a cut: the disk as it was found when the power came back. */
  remount(): void;
  /** Every write to it hangs until it thaws. */
  freeze(): void;
  thaw(): void;
}

/** An ext4 on a loop device over a file; gone when `made` is stopped, thawed if it has to be. */
export function mountExt4(made: StopStack): Ext4 {
  const directory = temporaryDirectory();
  made.push(() => removeDirectory(directory));
  const ext4 = makeExt4(directory);
  made.push(() => ext4.unmount());
  const freeze = () => {
    // First of all that is stopped: no process that waits for a frozen disk can be killed.
    made.push(() => ext4.thaw());
    ext4.freeze();
  };
  return { ...ext4, freeze };
}

const IMAGE_BYTES = 64 * 1024 * 1024;

/** `EXT4_IOC_SHUTDOWN`, without flushing the journal. */
const SHUT_DOWN =
  'my $flag = pack("L", 2); open(my $f, "<", $ARGV[0]) or die $!; ioctl($f, 0x8004587D, $flag) or die $!';

function makeExt4(directory: string): Ext4 & { unmount(): void } {
  const image = join(directory, 'image');
  const mountPoint = join(directory, 'mounted');
  mkdirSync(mountPoint);
  closeSync(openSync(image, 'wx'));
  run('truncate', '-s', String(IMAGE_BYTES), image);
  run('mkfs.ext4', '-q', '-F', image);
  run('mount', '-o', 'loop', image, mountPoint);
  let frozen = false;
  const thaw = () => {
    if (frozen) run('fsfreeze', '-u', mountPoint);
    frozen = false;
  };
  return {
    mountPoint,
    cutPower: () => {
      run('perl', '-e', SHUT_DOWN, mountPoint);
    },
    remount: () => {
      run('umount', mountPoint);
      run('mount', '-o', 'loop', image, mountPoint);
    },
    freeze: () => {
      run('fsfreeze', '-f', mountPoint);
      frozen = true;
    },
    thaw,
    unmount: () => {
      thaw();
      unmount(mountPoint);
    },
  };
}

function unmount(mountPoint: string): void {
  // A process that is still dying holds it a moment longer; lazily, it goes once that has gone.
  if (!works('umount', mountPoint)) run('umount', '-l', mountPoint);
}

/** A file that takes up all but so many bytes of a file system; answers how to give them back. */
export function fillAllBut(directory: string, freeBytes: number): () => void {
  const path = join(directory, 'ballast');
  const available = Number(run('df', '--output=avail', '-B1', directory).split('\n')[1]);
  writeFileSync(path, Buffer.alloc(Math.max(0, available - freeBytes)));
  return () => rmSync(path, { force: true });
}
