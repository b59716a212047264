/** The certificate that is served, and its change for the one that its files hold by now. */
import { type Certificate, type CertificateFiles, readCertificate } from './lib/certificate.ts';
import type { Clock } from './lib/clock.ts';
import type { Logger } from './lib/logger.ts';

export class ServedCertificate {
  readonly #files: CertificateFiles | null;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #logger: Logger;
  #current: Certificate | null;

  /** @throws Error where the files cannot be served */
  constructor(
    settings: { readonly tlsCert: string | null; readonly tlsKey: string | null },
    { clock, logger }: { readonly clock: Pick<Clock, 'now'>; readonly logger: Logger },
  ) {
    const { tlsCert: certFile, tlsKey: keyFile } = settings;
    this.#files = certFile === null || keyFile === null ? null : { certFile, keyFile };
    this.#clock = clock;
    this.#logger = logger;
    // At a start an expired one is served and complained of: some clients may do without, none without a server.
    this.#current = this.#read();
  }

  /** Null is plain HTTP. */
  get current(): Certificate | null {
    return this.#current;
  }

  /** Reads the files again and serves them; where that cannot be, what is served stays and the reason is logged. */
  reload(serve: (certificate: Certificate) => void): void {
    const before = this.#current;
    try {
      const next = this.#read();
      if (next === null || before === null) {
        this.#logger.info('there is no certificate to reload');
        return;
      }
      if (next.expiresAtMs <= this.#clock.now() && next.expiresAtMs < before.expiresAtMs) {
        throw new Error(`tls-cert ${next.certFile} has expired, and the one that is served expires later`);
      }
      serve(next);
      this.#current = next;
      const expiresAt = new Date(next.expiresAtMs).toISOString();
      this.#logger.info({ expiresAt }, 'new connections are served with the certificate that was reloaded');
    } catch (error) {
      this.#logger.error({ err: error }, 'the certificate was not reloaded: the one before is still served');
    }
  }

  #read(): Certificate | null {
    if (this.#files === null) return null;
    const certificate = readCertificate(this.#files, this.#clock.now());
    for (const warning of certificate.warnings) this.#logger.warn(warning);
    return certificate;
  }
}
