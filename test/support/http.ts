/** HTTP for tests: a client that adds next to nothing to what it is told to send, and a server with tenants. */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { expect } from 'vitest';
import { expectDescribed } from './description.ts';
import { foreshock, removeDirectory, type ServerProcess, startServer, temporaryDirectory } from './server.ts';

/** Far longer than any answer takes: only a server that hangs gets here. */
const ANSWER_DEADLINE_MS = 20_000;

export type Headers = Readonly<Record<string, string>>;

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly key?: string | undefined;
  readonly headers?: Headers;
  /** An object goes out as JSON, text and bytes as they are; all say they are JSON where `headers` does not. */
  readonly body?: object | string | Buffer | undefined;
  /** With Transfer-Encoding: chunked instead of Content-Length. */
  readonly chunked?: boolean;
}

export interface Answer {
  readonly status: number;
  /** By lower-case name, but for those of the library (Date, uWebSockets). */
  readonly headers: Headers;
  readonly text: string;
}

export class HttpClient {
  readonly port: number;
  // The server gives up on idle connections after 10 s; ours must be gone before.
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32, timeout: 4000 });

  constructor(port: number) {
    this.port = port;
  }

  get(path: string, key?: string, headers: Headers = {}): Promise<Answer> {
    return this.send({ method: 'GET', path, key, headers });
  }

  post(path: string, key?: string, body?: Sent['body'], headers: Headers = {}): Promise<Answer> {
    return this.send({ method: 'POST', path, key, body, headers });
  }

  put(path: string, key?: string, body?: Sent['body'], headers: Headers = {}): Promise<Answer> {
    return this.send({ method: 'PUT', path, key, body, headers });
  }

  delete(path: string, key?: string): Promise<Answer> {
    return this.send({ method: 'DELETE', path, key });
  }

  send({ method, path, key, headers = {}, body, chunked = false }: Sent): Promise<Answer> {
    const bytes = bytesOf(body);
    const sent: Record<string, string | number> = {};
    if (key !== undefined) sent['Authorization'] = `Bearer ${key}`;
    if (bytes !== undefined) sent['Content-Type'] = 'application/json';
    if (bytes !== undefined && !chunked) sent['Content-Length'] = bytes.length;
    if (chunked) sent['Transfer-Encoding'] = 'chunked';
    for (const [name, value] of Object.entries(headers)) sent[name] = value;
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        { host: '127.0.0.1', port: this.port, method, path, headers: sent, agent: this.#agent },
        (response) =>
          collect(response)
            .then((answer) => expectDescribed({ method, path, answer }))
            .then(resolve, reject),
      );
      const timer = setTimeout(
        () => request.destroy(new Error(`no answer to ${method} ${path}`)),
        ANSWER_DEADLINE_MS,
      );
      request.on('close', () => clearTimeout(timer));
      request.on('error', reject);
      request.end(bytes);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function bytesOf(body: Sent['body']): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function collect(response: IncomingMessage): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(response.headers)) {
        if (name !== 'date' && name !== 'uwebsockets') headers[name] = String(value);
      }
      resolve({ status: response.statusCode ?? 0, headers, text: Buffer.concat(chunks).toString('utf8') });
    });
  });
}

/** The body of an answer that must be this status and JSON. */
export function bodyOf<T>(answer: Answer, status = 200): T {
  expect(answer).toMatchObject({ status, headers: { 'content-type': 'application/json' } });
  return JSON.parse(answer.text);
}

/** What of an answer does not differ from one request to the next. */
export function sameness({ status, headers, text }: Answer): object {
  const { 'x-request-id': _, ...rest } = headers;
  return { status, headers: rest, text: text.replace(/"instance":"[^"]*"/, '"instance":"…"') };
}

/** A refusal in plain text, with exactly this sentence where it is a string. */
export function expectRefusal(answer: Answer, status: number, sentence: string | RegExp): void {
  expect(answer).toMatchObject({ status, headers: { 'content-type': 'text/plain; charset=utf-8' } });
  if (typeof sentence === 'string') expect(answer.text).toBe(sentence);
  else expect(answer.text).toMatch(sentence);
}

/** A key as `foreshock keys create --json` prints it. */
export interface KeyRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly kind: string;
  readonly key: string;
}

export interface Tenant {
  readonly name: string;
  readonly ingest: string;
  readonly readOnly: string;
}

const FOR_TESTS = ['--agent-stale-after', '1h', '--rate-limit-failed-auth', '0', '--shed-after-ms', '0'];

export class TestServer {
  readonly process: ServerProcess;
  readonly http: HttpClient;
  /** The tenant of the first start. */
  readonly tenant: Tenant;

  private constructor(process: ServerProcess) {
    this.process = process;
    this.http = new HttpClient(process.port);
    this.tenant = { name: 'default', ingest: process.ingestKey, readOnly: process.readOnlyKey };
  }

  /**
   * On a data directory of its own. Agents go stale after an hour, so that what is read changes by no clock; and who
   * has no good key may ask as often as a test likes, however busy the machine is.
   */
  static async start(...flags: readonly string[]): Promise<TestServer> {
    const directory = temporaryDirectory();
    try {
      return new TestServer(await startServer(directory, [...FOR_TESTS, ...flags]));
    } catch (error) {
      removeDirectory(directory);
      throw error;
    }
  }

  /** Fails where the server has ended, or has said that something in it failed. */
  async stop(): Promise<void> {
    this.http.close();
    const code = await this.process.stop();
    removeDirectory(this.process.dataDirectory);
    this.expectNoFailure();
    expect(code).toBe(0);
  }

  /** What the server has printed tells of no failure, and of no misuse of its HTTP library. */
  expectNoFailure(): void {
    expect(this.process.output()).not.toMatch(/a request failed|"level":(?:50|60)|Warning|\buWS\b/);
  }

  async newTenant(name: string): Promise<Tenant> {
    await this.#admin('tenants', 'create', name);
    const [ingest] = await this.newKeys(name, 'ingest');
    const [readOnly] = await this.newKeys(name, 'read-only');
    return { name, ingest: ingest?.key ?? '', readOnly: readOnly?.key ?? '' };
  }

  async newKeys(tenant: string, kind: 'ingest' | 'read-only', count = 1): Promise<readonly KeyRow[]> {
    const wanted = ['--tenant', tenant, '--kind', kind, '--count', String(count)];
    const lines = await this.#admin('keys', 'create', ...wanted);
    return lines
      .trim()
      .split('\n')
      .map((line): KeyRow => JSON.parse(line));
  }

  async revoke(key: KeyRow): Promise<void> {
    await this.#admin('keys', 'revoke', key.id);
  }

  async #admin(...args: readonly string[]): Promise<string> {
    const ran = await foreshock(...args, '--json', '--data-dir', this.process.dataDirectory);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    return ran.stdout;
  }

  /** Everything a tenant can read: the same text before and after where nothing has changed. */
  async everything({ readOnly }: Tenant): Promise<readonly string[]> {
    const read = async (path: string) => {
      const answer = await this.http.get(path, readOnly);
      expect(answer.status).toBe(200);
      return answer.text;
    };
    const idsIn = (list: string) =>
      JSON.parse(list).map((thing: { readonly id: string }): string => thing.id) as string[];
    const [agents = '', services = '', integrations = ''] = await Promise.all(
      ['/v1/agents', '/v1/services', '/v1/integrations'].map(read),
    );
    const logs = await Promise.all(idsIn(agents).map((id) => read(`/v1/agents/${id}?per_page=100`)));
    const windows = await Promise.all(idsIn(services).map((id) => read(`/v1/services/${id}/context`)));
    const alerts = await read('/v1/alerts?per_page=100');
    const details = await Promise.all(
      idsIn(JSON.stringify(JSON.parse(alerts).alerts)).map((id) => read(`/v1/alerts/${id}`)),
    );
    const sent = await Promise.all(
      idsIn(integrations).map((id) => read(`/v1/integrations/${id}/deliveries`)),
    );
    return [agents, services, integrations, ...logs, ...windows, alerts, ...details, ...sent];
  }
}

/** The body of an event with everything that does not matter filled in; undefined leaves a field out. */
export function eventBody(fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    service_name: 'checkout-api',
    vendor: 'argocd',
    entity: 'checkout-api',
    event_type: 'deploy',
    confidence: 0.95,
    ttl_seconds: 3600,
    ...fields,
  };
}
