/** A certificate and its key, as files, judged before the TLS library is given them: it says only yes or no. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';

export interface CertificateFiles {
  /** PEM, the server's own certificate first, then those that lead to the authority. */
  readonly certFile: string;
  /** PEM, without a passphrase. */
  readonly keyFile: string;
}

export interface Certificate extends CertificateFiles {
  /** When the first of the chain expires. */
  readonly expiresAtMs: number;
  /** A host it is for; undefined where it names none, or wildcards alone. */
  readonly hostName: string | undefined;
  /** It vouches for itself: no client knows it that was not given it. */
  readonly isSelfSigned: boolean;
  /** What an operator should know, though it can be served. */
  readonly warnings: readonly string[];
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** @throws Error where the two cannot be read or do not belong together, with a sentence for the operator */
export function readCertificate({ certFile, keyFile }: CertificateFiles, nowMs: number): Certificate {
  const chain = chainIn(certFile);
  const [leaf] = chain;
  if (leaf === undefined) throw new Error(`tls-cert ${certFile} holds no certificate in PEM`);
  if (!leaf.checkPrivateKey(keyIn(keyFile))) {
    throw new Error(`tls-key ${keyFile} is not the key of the certificate in ${certFile}`);
  }
  const expiresAtMs = Math.min(...chain.map(({ validTo }) => Date.parse(validTo)));
  const warnings: string[] = [];
  if (expiresAtMs <= nowMs) warnings.push(`tls-cert ${certFile} has expired, ${isoOf(expiresAtMs)}`);
  if (Date.parse(leaf.validFrom) > nowMs) {
    warnings.push(`tls-cert ${certFile} is not valid before ${isoOf(Date.parse(leaf.validFrom))}`);
  }
  if ((statSync(keyFile).mode & 0o007) !== 0)
    warnings.push(`tls-key ${keyFile} is open to every user: chmod o= it`);
  return {
    certFile,
    keyFile,
    expiresAtMs,
    hostName: /(?:^|, )DNS:([\w.-]+)/.exec(leaf.subjectAltName ?? '')?.[1],
    isSelfSigned: leaf.issuer === leaf.subject,
    warnings,
  };
}

function chainIn(file: string): readonly X509Certificate[] {
  const blocks = textOf('tls-cert', file).match(PEM_CERTIFICATE) ?? [];
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (error) {
    throw new Error(`tls-cert ${file} holds a certificate that cannot be read: ${reasonOf(error)}`);
  }
}

function keyIn(file: string): KeyObject {
  const text = textOf('tls-key', file);
  if (/-----BEGIN ENCRYPTED|^Proc-Type:.*ENCRYPTED/m.test(text)) {
    throw new Error(`tls-key ${file} has a passphrase: nobody is there to give it at a restart`);
  }
  try {
    return createPrivateKey(text);
  } catch {
    // The reason may tell of the bytes.
    throw new Error(`tls-key ${file} holds no private key in PEM`);
  }
}

function textOf(setting: string, file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    throw new Error(`${setting} ${file} cannot be read: ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isoOf(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
