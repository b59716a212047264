/**
 * Where connections come in: a port, with TLS or without, and a unix socket, or one of the two.
 *
 * uWebSockets.js reads a certificate once, when it makes an app, and keeps it for good. So with TLS the app that
 * listens serves nobody: it hands each connection, before a byte of it is read, to a second app, and another
 * certificate is another such app. The port stays open all the while, whoever is connected stays with the app that
 * took the connection, and a pair of files that is no good changes nothing. (Apps hand on connections so that threads
 * can share a port; here both are of one thread.) TLS 1.0 and 1.1 are refused by the library.
 */
import './native-binary.ts';
import {
  App,
  type HttpResponse,
  SSLApp,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from 'uWebSockets.js';
import type { Certificate } from '../lib/certificate.ts';
import { makeWay, SocketFile } from '../lib/socket-path.ts';
import { whyNotListen } from './listen-failure.ts';

export interface DoorOptions {
  readonly host: string;
  /** 0 picks a free one, null opens none. */
  readonly port: number | null;
  /** For the port; null is plain HTTP. */
  readonly certificate: Certificate | null;
  readonly socket: UnixSocket | null;
}

/** Plain HTTP: who may connect is in the file's mode. */
export interface UnixSocket {
  readonly path: string;
  readonly mode: number;
}

/** LIBUS_LISTEN_EXCLUSIVE_PORT: without it two processes share a port, and the kernel splits their callers. */
const EXCLUSIVE_PORT = 1;

/** A connection is handed over within one turn of the event loop; an app that took none for so long takes none. */
const HANDOVER_MS = 60_000;

declare module 'uWebSockets.js' {
  interface TemplatedApp {
    /** The binary has this form; its typings lack it. */
    listen(
      host: string,
      port: number,
      options: number,
      done: (socket: us_listen_socket | false) => void,
    ): TemplatedApp;
    /** The typings lack these too. */
    getDescriptor(): number;
    /** It says false where it cannot, which the typings do not. */
    listen_unix(done: (socket: us_listen_socket | false) => void, path: string): TemplatedApp;
    addChildAppDescriptor(descriptor: number): TemplatedApp;
    removeChildAppDescriptor(descriptor: number): TemplatedApp;
  }
}

interface ServingApp {
  readonly app: TemplatedApp;
  open: number;
  retiredAtMs: number;
}

export class Doors {
  readonly #options: DoorOptions;
  readonly #prepare: (app: TemplatedApp) => void;
  /** Listens on the port; with TLS it hands on what it accepts. */
  readonly #portApp: TemplatedApp;
  /** With TLS: who is given new connections. */
  #serving: ServingApp | undefined;
  /** With TLS: those of earlier certificates, as long as anybody is connected to them. */
  #retired: readonly ServingApp[] = [];
  /** Listens on the unix socket: the app of the port, where that is plain too. */
  readonly #socketApp: TemplatedApp;
  #sockets: us_listen_socket[] = [];
  #socketFile: SocketFile | undefined;
  /** Null where none is open. */
  port: number | null = null;

  /**
   * @param prepare gives an app its routes
   * @throws Error where the TLS library refuses the certificate
   */
  constructor(options: DoorOptions, prepare: (app: TemplatedApp) => void) {
    this.#options = options;
    this.#prepare = prepare;
    const { certificate } = options;
    if (certificate === null) {
      this.#portApp = App();
      prepare(this.#portApp);
      this.#socketApp = this.#portApp;
    } else {
      this.#portApp = tlsApp(certificate);
      this.#serving = this.#servingApp(certificate);
      this.#portApp.addChildAppDescriptor(this.#serving.app.getDescriptor());
      this.#socketApp = App();
      prepare(this.#socketApp);
    }
  }

  /** @throws Error where an address cannot be listened on; `close` what is open then */
  async open(): Promise<void> {
    const { host, port, socket } = this.#options;
    if (socket !== null) await this.#openSocket(socket);
    if (port !== null) await this.#openPort(host, port);
  }

  async #openPort(host: string, port: number): Promise<void> {
    const socket = await new Promise<us_listen_socket | false>((done) => {
      this.#portApp.listen(host, port, EXCLUSIVE_PORT, done);
    });
    if (socket === false) {
      throw new Error(`cannot listen on ${host}:${port}: ${await whyNotListen(host, port)}`);
    }
    this.#sockets.push(socket);
    this.port = us_socket_local_port(socket);
  }

  /** The library takes away whatever has that name, be it a file or another's socket. So we look first. */
  async #openSocket({ path, mode }: UnixSocket): Promise<void> {
    await makeWay(path);
    const socket = await new Promise<us_listen_socket | false>((done) => {
      this.#socketApp.listen_unix(done, path);
    });
    if (socket === false) {
      throw new Error(`cannot listen on ${path}: is its directory there, and may this user write to it?`);
    }
    this.#sockets.push(socket);
    this.#socketFile = new SocketFile(path, mode);
  }

  /** Connections from now on are given this certificate. @throws Error where it is refused; then nothing changes */
  useCertificate(certificate: Certificate, nowMs: number): void {
    const before = this.#serving;
    if (before === undefined) throw new Error('the server was started without TLS');
    const next = this.#servingApp(certificate);
    // In this order: the library's turn among several would point past the end of one.
    this.#portApp.removeChildAppDescriptor(before.app.getDescriptor());
    this.#portApp.addChildAppDescriptor(next.app.getDescriptor());
    this.#serving = next;
    before.retiredAtMs = nowMs;
    const isDone = ({ open, retiredAtMs }: ServingApp) => open === 0 && retiredAtMs + HANDOVER_MS < nowMs;
    for (const { app } of this.#retired.filter(isDone)) app.close();
    this.#retired = [...this.#retired.filter((each) => !isDone(each)), before];
  }

  /** Takes no new connections; later calls do nothing. */
  stopAccepting(): void {
    for (const socket of this.#sockets.splice(0)) us_listen_socket_close(socket);
    this.#socketFile?.remove();
    this.#socketFile = undefined;
  }

  /** Closes every connection. */
  close(): void {
    this.stopAccepting();
    for (const { app } of this.#retired) app.close();
    this.#serving?.app.close();
    this.#portApp.close();
    if (this.#socketApp !== this.#portApp) this.#socketApp.close();
  }

  #servingApp(certificate: Certificate): ServingApp {
    const serving: ServingApp = { app: tlsApp(certificate), open: 0, retiredAtMs: 0 };
    this.#prepare(serving.app);
    const count = (_: HttpResponse, change: number) => {
      serving.open += change;
    };
    serving.app.filter(count);
    return serving;
  }
}

function tlsApp({ certFile, keyFile }: Certificate): TemplatedApp {
  try {
    return SSLApp({ cert_file_name: certFile, key_file_name: keyFile });
  } catch {
    throw new Error(`the TLS library does not take ${certFile} and ${keyFile}`);
  }
}
