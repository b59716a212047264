/** A network that can be as bad as they are: a proxy between a client and a real server. */
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

export type Fault =
  | { readonly type: 'none' }
  /** The server never hears of the request. */
  | { readonly type: 'cut-before' }
  /** The server carries the request out, and nobody hears of it. */
  | { readonly type: 'cut-after' }
  | { readonly type: 'answer'; readonly status: number }
  | { readonly type: 'delay'; readonly milliseconds: number };

export class Network {
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: false });
  /** Where the server is now: it may come back on another port. */
  target: number;
  /** Asked for every request, with its body. */
  fault: (body: string) => Fault = () => ({ type: 'none' });
  /** Nothing of an answer is passed on any more. */
  isStalled = false;
  readonly requests: { readonly url: string; readonly headers: IncomingMessage['headers'] }[] = [];

  private constructor(target: number) {
    this.target = target;
    this.#server = createServer((request, response) => void this.#take(request, response));
  }

  static async start(target: number): Promise<Network> {
    const network = new Network(target);
    await new Promise<void>((resolve) => network.#server.listen(0, '127.0.0.1', resolve));
    return network;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Requests that are being answered. */
  open = 0;

  cut(): void {
    this.#server.closeAllConnections();
  }

  close(): void {
    this.cut();
    this.#server.close();
    this.#agent.destroy();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests.push({ url: request.url ?? '', headers: request.headers });
    this.open += 1;
    response.once('close', () => {
      this.open -= 1;
    });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const fault = this.fault(body.toString());
    if (fault.type === 'cut-before') return void response.destroy();
    if (fault.type === 'answer') {
      return void response.writeHead(fault.status, { 'Retry-After': '0' }).end('too much for this network');
    }
    if (fault.type === 'delay') await new Promise((resolve) => setTimeout(resolve, fault.milliseconds));
    const { method, url: path, headers } = request;
    const target = { host: '127.0.0.1', port: this.target, method, path, headers, agent: this.#agent };
    const forwarded = httpRequest(target, (answer) => {
      if (fault.type === 'cut-after') {
        answer.resume().once('end', () => response.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('data', (chunk) => {
        if (!this.isStalled) response.write(chunk);
      });
      answer.on('end', () => response.end());
      answer.on('error', () => response.destroy());
      response.once('close', () => forwarded.destroy());
    });
    forwarded.on('error', () => response.destroy());
    forwarded.end(body);
  }
}
