/**
 * Numbers in memory, through a view of it: a third of what Buffer's methods take. The view of the memory that was asked for
 * last is kept, for nearly all who ask work on the same few buffers: each has one of these, so that they do not take
 * turns.
 */
export class MemoryView {
  #last: DataView = new DataView(new ArrayBuffer(0));

  /** Over all of the memory that holds the bytes, from its beginning: their own is at their `byteOffset`. */
  of({ buffer }: Uint8Array): DataView {
    if (this.#last.buffer !== buffer) this.#last = new DataView(buffer);
    return this.#last;
  }
}
