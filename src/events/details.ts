/** What a window shows of an event beside its type and times: six texts in a row, as encoding.ts writes them. */
import { endOfText, memoryOf, NULL, startOfText, textOrNullAt } from './texts.ts';

export interface Details {
  readonly vendor: string;
  readonly entity: string;
  readonly oldValue: string | null;
  readonly newValue: string | null;
  readonly actor: string | null;
  readonly sha: string | null;
}

/** The details that start at a byte. */
export function readDetails(bytes: Buffer, start: number): Details {
  const vendor = textOrNullAt(bytes, start);
  const entity = textOrNullAt(bytes, vendor.end);
  const oldValue = textOrNullAt(bytes, entity.end);
  const newValue = textOrNullAt(bytes, oldValue.end);
  const actor = textOrNullAt(bytes, newValue.end);
  const sha = textOrNullAt(bytes, actor.end);
  return {
    vendor: vendor.text ?? '',
    entity: entity.text ?? '',
    oldValue: oldValue.text,
    newValue: newValue.text,
    actor: actor.text,
    sha: sha.text,
  };
}

/** The texts of details one after the other, as bytes: `next` fills the fields, which are good until it is called again. */
export class DetailsTexts {
  /** The memory that they lie in. */
  view: DataView = new DataView(new ArrayBuffer(0));
  #at = 0;
  /** Of the text, in the view. */
  start = 0;
  end = 0;

  begin(details: Buffer): void {
    this.view = memoryOf(details);
    this.#at = details.byteOffset;
  }

  /** False where it is null. */
  next(): boolean {
    const { view } = this;
    const at = this.#at;
    this.#at = endOfText(view, at);
    if (view.getUint8(at) === NULL) return false;
    this.start = startOfText(view, at);
    this.end = this.#at;
    return true;
  }
}
