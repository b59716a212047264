/** Why a command failed, in words that say what to do: the system's own are written for programmers. */
import { ForeshockError } from '../client/error.ts';

interface Advice {
  readonly why: string;
  readonly remedy: string;
}

const ADVICE: Readonly<Record<string, Advice>> = {
  EACCES: { why: 'permission denied', remedy: 'run it as the owner of that path, or give another' },
  EPERM: { why: 'not permitted', remedy: 'run it as the owner of that path, or give another' },
  ENOENT: { why: 'there is no such file or directory', remedy: 'look for a mistyped path' },
  EEXIST: { why: 'it is a file, and a directory is needed', remedy: 'give another path' },
  ENOTDIR: { why: 'a part of it is a file, and a directory is needed', remedy: 'give another path' },
  EISDIR: { why: 'it is a directory, and a file is needed', remedy: 'give another path' },
  ENOSPC: { why: 'the disk is full', remedy: 'make room on it and try again' },
  EDQUOT: { why: 'the quota is used up', remedy: 'make room and try again' },
  EROFS: { why: 'the file system is read-only', remedy: 'mount it for writing, or give another directory' },
  EMFILE: { why: 'too many files are open', remedy: 'raise the limit (ulimit -n, LimitNOFILE= of systemd)' },
};

/** One sentence or two for the operator. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ForeshockError) return `${error.message}${hintOn(error)}`;
  const {
    code = '',
    path,
    address,
    syscall = 'use',
  }: NodeJS.ErrnoException & { readonly address?: string } = error;
  // What node says of a folder that it cannot make with those above it, for whatever reason.
  if (code === 'ENOENT' && syscall === 'mkdir')
    return `${path} cannot be made; is the file system read-only?`;
  const advice = ADVICE[code];
  if (advice === undefined) return error.message;
  const place = path ?? address;
  return place === undefined
    ? `${advice.why} (${syscall}); ${advice.remedy}`
    : `${place}: ${advice.why} (${syscall}); ${advice.remedy}`;
}

function hintOn({ status }: ForeshockError): string {
  if (status === null) return '; is the server running, and --server its address?';
  if (status === 401) return '; foreshock keys create makes another';
  return status === 404 ? '; is --server the address of a Foreshock server, without a path?' : '';
}
