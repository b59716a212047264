/** A connection of our own load client: requests go out as they are, answers are counted as they come. */
import { connect, type Socket } from 'node:net';

/** In the order of the requests: HTTP/1.1 answers so. */
export type OnAnswer = (status: number, body: Buffer) => void;

export class Connection {
  readonly #socket: Socket;
  readonly #onAnswer: OnAnswer;
  #pending: Buffer | undefined;

  private constructor(socket: Socket, onAnswer: OnAnswer, onLost: (error: Error) => void) {
    this.#socket = socket;
    this.#onAnswer = onAnswer;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', onLost);
    socket.on('end', () => onLost(new Error('the server closed a connection')));
  }

  static open(port: number, onAnswer: OnAnswer, onLost: (error: Error) => void): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket, onAnswer, onLost));
      });
    });
  }

  send(requests: string): void {
    this.#socket.write(requests, 'latin1');
  }

  close(): void {
    this.#socket.removeAllListeners('end');
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    const bytes = this.#pending === undefined ? chunk : Buffer.concat([this.#pending, chunk]);
    let at = 0;
    for (;;) {
      const headEnd = bytes.indexOf('\r\n\r\n', at);
      if (headEnd < 0) break;
      const head = bytes.toString('latin1', at, headEnd);
      const bodyStart = headEnd + 4;
      const length = Number(/\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      if (bodyStart + length > bytes.length) break;
      at = bodyStart + length;
      this.#onAnswer(Number(head.slice(9, 12)), bytes.subarray(bodyStart, at));
    }
    this.#pending = at < bytes.length ? bytes.subarray(at) : undefined;
  }
}
