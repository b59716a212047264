/** A bare TCP connection to a server: sends exactly the bytes it is given, in the pieces it is given. */
import { connect, type Socket } from 'node:net';

/** Far longer than any answer takes, and shorter than the 10 s after which the server gives up on a connection. */
const DEADLINE_MS = 8000;

export interface RawAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Text stands for bytes: one character each, U+0000 to U+00FF. */
export type Bytes = string | Buffer;

export class RawConnection {
  readonly #socket: Socket;
  /** What has come in and was not read, a character a byte. */
  #received = '';
  #closed = false;
  readonly #changes = new Set<() => void>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.#received += chunk.toString('latin1');
      this.#changed();
    });
    const over = () => {
      this.#closed = true;
      this.#changed();
    };
    socket.on('end', over);
    socket.on('close', over);
    // A reset is one way of closing; 'close' follows.
    socket.on('error', () => {});
  }

  static open(port: number): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new RawConnection(socket));
      });
    });
  }

  /** The server has said that nothing more will come, or is gone. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Resolves once the kernel has the bytes. Each call is a segment of its own, if time passes between two. */
  send(bytes: Bytes): Promise<void> {
    if (this.#closed) return Promise.resolve();
    const buffer = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    return new Promise((resolve) => this.#socket.write(buffer, () => resolve()));
  }

  /** The pieces, one after another, with time for the server to read each before the next. */
  async sendPieces(pieces: readonly Bytes[], pauseMs = 2): Promise<void> {
    for (const piece of pieces) {
      await this.send(piece);
      await pause(pauseMs);
    }
  }

  /**
   * The next answer.
   *
   * @param head the request was a HEAD: the answer has no body, whatever its Content-Length says
   * @throws Error where the connection is closed before it is complete
   */
  async answer({ head = false } = {}): Promise<RawAnswer> {
    for (;;) {
      const found = parse(this.#received, head);
      if (found !== undefined) {
        this.#received = this.#received.slice(found.length);
        return found.answer;
      }
      if (this.#closed) throw new Error(`closed after ${JSON.stringify(this.#received.slice(0, 200))}`);
      await this.#change('an answer');
    }
  }

  /** Waits until the server closes; what it sent before that and nobody read. */
  async closing(): Promise<string> {
    while (!this.#closed) await this.#change('the server to close');
    return this.#received;
  }

  /** What has come in and was not read, a while later. */
  async remainder(waitMs = 100): Promise<string> {
    await pause(waitMs);
    return this.#received;
  }

  pauseReading(): void {
    this.#socket.pause();
  }

  resumeReading(): void {
    this.#socket.resume();
  }

  /** FIN: nothing more will be sent, but answers are still read. */
  halfClose(): void {
    this.#socket.end();
  }

  /** RST: gone without a word. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #changed(): void {
    for (const wake of this.#changes) wake();
  }

  #change(awaited: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#changes.delete(wake);
        reject(
          new Error(`waited in vain for ${awaited}; so far ${JSON.stringify(this.#received.slice(0, 200))}`),
        );
      }, DEADLINE_MS);
      const wake = () => {
        clearTimeout(timer);
        this.#changes.delete(wake);
        resolve();
      };
      this.#changes.add(wake);
    });
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

/** Opens a connection, runs a step on it, and closes it whatever comes of the step. */
export async function withConnection<T>(
  port: number,
  step: (connection: RawConnection) => Promise<T>,
): Promise<T> {
  const connection = await RawConnection.open(port);
  try {
    return await step(connection);
  } finally {
    connection.destroy();
  }
}

/** The answer at the start of what was received, and how many characters it takes; undefined until it is whole. */
function parse(
  received: string,
  head: boolean,
): { readonly answer: RawAnswer; readonly length: number } | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const [statusLine = '', ...lines] = received.slice(0, headEnd).split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1];
  if (status === undefined)
    throw new Error(`no answer begins with ${JSON.stringify(received.slice(0, 200))}`);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const bodyless = head || status.startsWith('1') || status === '204';
  const bodyLength = bodyless ? 0 : Number(headers.get('content-length') ?? 0);
  const start = headEnd + 4;
  const length = start + bodyLength;
  if (received.length < length) return undefined;
  return { answer: { status: Number(status), headers, body: received.slice(start, length) }, length };
}

export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  readonly key?: string | undefined;
  /** Lines of the head, without line ends, besides Host and Authorization. */
  readonly lines?: readonly string[];
  /** Goes out with Content-Length, where `lines` names neither that nor a Transfer-Encoding. */
  readonly body?: string;
}

/** A whole request as it goes over the wire. */
export function rawRequest({ method = 'GET', path = '/', key, lines = [], body }: RawRequest): string {
  const framed = lines.some((line) => /^(?:content-length|transfer-encoding)/i.test(line));
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
    ...lines,
    ...(body === undefined || framed ? [] : [`Content-Length: ${body.length}`]),
  ];
  return `${head.join('\r\n')}\r\n\r\n${body ?? ''}`;
}
