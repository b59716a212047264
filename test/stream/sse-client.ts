/** A reader of the stream over a real connection, which can be made to stop reading. */
import { type IncomingMessage, request } from 'node:http';
import { SseParser } from './sse.ts';

const DEADLINE_MS = 10_000;

export class SseClient {
  readonly parser: SseParser;
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly #response: IncomingMessage;
  text = '';
  ended = false;

  private constructor(response: IncomingMessage, lastEventId: string) {
    this.#response = response;
    this.parser = new SseParser(lastEventId);
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    response.setEncoding('utf8').on('data', (text: string) => {
      this.text += text;
      if (this.status === 200) this.parser.add(text);
    });
    const end = () => {
      this.ended = true;
    };
    response.on('end', end).on('error', end).on('close', end);
  }

  static open(port: number, key: string, query = '', lastEventId = ''): Promise<SseClient> {
    const headers: Record<string, string> = { Authorization: `Bearer ${key}` };
    if (lastEventId !== '') headers['Last-Event-ID'] = lastEventId;
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port, path: `/v1/stream${query}`, headers, agent: false },
        (response) => resolve(new SseClient(response, lastEventId)),
      );
      sent.on('error', reject);
      sent.end();
    });
  }

  /** Waits for what must come. */
  async until(holds: (client: this) => boolean): Promise<void> {
    const deadline = performance.now() + DEADLINE_MS;
    while (!holds(this)) {
      if (performance.now() > deadline) {
        const names = this.parser.messages.map(({ id, name }) => `${id} ${name}`);
        throw new Error(
          `it did not come; ${this.status} ${this.ended ? 'ended' : 'open'}: ${names.join(', ')}`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** The answer came to its proper end, and was not cut off. */
  get isComplete(): boolean {
    return this.#response.complete;
  }

  /** The entities of the events that came, once there are so many. */
  async entities(count: number): Promise<readonly unknown[]> {
    const events = () => this.parser.messages.filter(({ name }) => name === 'event');
    await this.until(() => events().length >= count);
    return events().map(({ data }) => data['entity']);
  }

  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  close(): void {
    this.#response.destroy();
  }
}
