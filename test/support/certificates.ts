/** Certificates for tests, made by the openssl of the machine. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

/** Signs itself, for localhost and 127.0.0.1. */
export function makeCertificate(
  directory: string,
  name: string,
  validity = { begin: '20200101', end: '20490101' },
): CertificatePair {
  const own = mkdtempSync(join(directory, 'ca-'));
  const pair = { cert: join(own, 'cert.pem'), key: join(own, 'key.pem') };
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { cwd: own, stdio: 'pipe' });
  writeFileSync(join(own, 'index.txt'), '');
  writeFileSync(
    join(own, 'ca.cnf'),
    `[ca]\ndefault_ca=own\n[own]\ndatabase=index.txt\nnew_certs_dir=.\ndefault_md=sha256\npolicy=any\nrand_serial=yes
x509_extensions=hosts\n[any]\ncommonName=supplied\n[hosts]\nsubjectAltName=DNS:localhost,IP:127.0.0.1\n`,
  );
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl('req', '-new', ...curve, '-keyout', pair.key, '-out', 'request.pem', '-subj', `/CN=${name}`);
  const dates = ['-startdate', `${validity.begin}000000Z`, '-enddate', `${validity.end}000000Z`];
  const files = ['-keyfile', pair.key, '-in', 'request.pem', '-out', pair.cert];
  openssl('ca', '-batch', '-selfsign', '-notext', '-config', 'ca.cnf', ...dates, ...files);
  return pair;
}

/** Puts a pair where another one is, as a renewal does. */
export function replacePair(there: CertificatePair, by: CertificatePair): void {
  copyFileSync(by.cert, there.cert);
  copyFileSync(by.key, there.key);
}

export function encryptedKey(pair: CertificatePair, file: string): string {
  execFileSync('openssl', ['pkcs8', '-topk8', '-in', pair.key, '-out', file, '-passout', 'pass:secret'], {
    stdio: 'pipe',
  });
  return file;
}

/** One file after the other, as in a chain. */
export function joinFiles(file: string, ...parts: readonly string[]): string {
  writeFileSync(file, parts.map((part) => readFileSync(part, 'utf8')).join(''));
  return file;
}
