/** Server-Sent Events as a browser reads them: https://html.spec.whatwg.org/multipage/server-sent-events.html */

import { z } from 'zod';
import { streamSchemas } from '../../src/http/api-schemas/stream.ts';

/** Every message that a test sees is held to what clients are told of it. */
const SCHEMAS: ReadonlyMap<string, z.ZodType<Record<string, unknown>>> = new Map(
  Object.entries(streamSchemas).map(([name, schema]) => [name, z.strictObject(schema.shape)]),
);

function dataOf(name: string, json: string): Record<string, unknown> {
  const schema = SCHEMAS.get(name);
  if (schema === undefined) throw new Error(`no schema says what a message ${name} holds`);
  return schema.parse(JSON.parse(json));
}

export interface SseMessage {
  readonly id: string;
  readonly name: string;
  readonly data: Record<string, unknown>;
}

export class SseParser {
  readonly messages: SseMessage[] = [];
  /** What a reader that comes back says it has seen. */
  lastEventId: string;
  #id: string;
  #left = '';
  #name = '';
  #data = '';
  comments = 0;

  constructor(lastEventId = '') {
    this.lastEventId = lastEventId;
    this.#id = lastEventId;
  }

  add(text: string): void {
    const lines = (this.#left + text).split('\n');
    this.#left = lines.pop() ?? '';
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    if (line === '') {
      this.lastEventId = this.#id;
      if (this.#data !== '') {
        this.messages.push({ id: this.#id, name: this.#name, data: dataOf(this.#name, this.#data) });
      }
      this.#name = '';
      this.#data = '';
    } else if (line.startsWith(':')) this.comments += 1;
    else {
      const [field = '', ...rest] = line.split(': ');
      const value = rest.join(': ');
      if (field === 'id') this.#id = value;
      else if (field === 'event') this.#name = value;
      else if (field === 'data') this.#data += value;
      else if (field !== 'retry') throw new Error(`what is ${line}?`);
    }
  }
}
