/**
 * The stream of changes, read with fetch: EventSource cannot send a key. It comes back by itself, to where it was; a
 * connection that says nothing for longer than the server ever does is taken for dead.
 */
import { headers } from './api.ts';

export interface StreamMessage {
  readonly name: string;
  readonly data: string;
}

export interface StreamOptions {
  /** It is there; `isNew` where nothing of before is gone on from. */
  readonly onOpen: (isNew: boolean) => void;
  readonly onMessages: (messages: readonly StreamMessage[]) => void;
  readonly onLost: () => void;
  /** The key is not good, or not good any more. */
  readonly onRefused: (status: number, detail: string) => void;
}

const SILENCE_MS = 40_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;

/** Reads until it is stopped by the function that it answers. */
export function readStream(options: StreamOptions): () => void {
  const stopping = new AbortController();
  run(options, stopping.signal);
  return () => stopping.abort();
}

async function run(options: StreamOptions, stopped: AbortSignal): Promise<void> {
  let waitMs = FIRST_WAIT_MS;
  let lastEventId = '';
  while (!stopped.aborted) {
    const attempt = new AbortController();
    const end = () => attempt.abort();
    stopped.addEventListener('abort', end);
    let timer = setTimeout(end, SILENCE_MS);
    try {
      const resume = lastEventId === '' ? {} : { 'Last-Event-ID': lastEventId };
      const answer = await fetch('/v1/stream', {
        headers: { ...headers(), ...resume },
        signal: attempt.signal,
      });
      if (answer.status === 401 || answer.status === 403)
        return options.onRefused(answer.status, await answer.text());
      if (answer.ok && answer.body !== null) {
        options.onOpen(lastEventId === '');
        waitMs = FIRST_WAIT_MS;
        const parser = new Parser();
        for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
          clearTimeout(timer);
          timer = setTimeout(end, SILENCE_MS);
          const messages = parser.add(text);
          if (messages.length > 0) options.onMessages(messages);
          lastEventId = parser.lastEventId || lastEventId;
        }
      }
    } catch {
      // Lost, or stopped.
    } finally {
      clearTimeout(timer);
      stopped.removeEventListener('abort', end);
    }
    if (stopped.aborted) return;
    options.onLost();
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 1.7);
  }
}

class Parser {
  lastEventId = '';
  #left = '';

  add(text: string): readonly StreamMessage[] {
    const blocks = (this.#left + text).split('\n\n');
    this.#left = blocks.pop() ?? '';
    const messages: StreamMessage[] = [];
    for (const block of blocks) {
      let name = '';
      let data = '';
      for (const line of block.split('\n')) {
        if (line.startsWith('id: ')) this.lastEventId = line.slice(4);
        else if (line.startsWith('event: ')) name = line.slice(7);
        else if (line.startsWith('data: ')) data = line.slice(6);
      }
      if (name !== '') messages.push({ name, data });
    }
    return messages;
  }
}
