/** What stands behind a body in the memory that it is a piece of. */
import { describe, expect, it } from 'vitest';
import { ReceiveBuffer } from '../../src/http/receive-buffer.ts';
import { systemCalls } from '../../src/lib/system-calls.ts';

/** Where a process cannot look: as on a system that is no Linux. */
const NO_CALLS = undefined;

const memory = Buffer.alloc(8192);

/** A body of five bytes with this behind it. */
function bodyBefore(text: string, at = 100): Buffer {
  memory.write(`hello${text}`, at, 'latin1');
  return memory.subarray(at, at + 5);
}

describe('a receive buffer', () => {
  it('holds a body alone where the end of what was received stands behind it', () => {
    const buffer = new ReceiveBuffer(systemCalls());
    expect(buffer.holdsAlone(bodyBefore('\ra'))).toBe(true);
    expect(buffer.holdsAlone(bodyBefore('\raT /v1/events', 4000))).toBe(true);
  });

  it('holds it not alone where anything else does', () => {
    for (const behind of ['POST /v1/events', 'P\ra', '\r\n\ra', '\r\r', 'a\r', '\0\0', '\rb']) {
      expect(new ReceiveBuffer(systemCalls()).holdsAlone(bodyBefore(behind)), JSON.stringify(behind)).toBe(
        false,
      );
    }
  });

  it('holds the last of a row not alone, and what comes after the row', () => {
    const buffer = new ReceiveBuffer(systemCalls());
    expect(buffer.holdsAlone(bodyBefore('POST'))).toBe(false);
    expect(buffer.holdsAlone(bodyBefore('POST', 300))).toBe(false);
    expect(buffer.holdsAlone(bodyBefore('\ra', 500))).toBe(false);
    expect(buffer.holdsAlone(bodyBefore('\ra'))).toBe(true);
  });

  it('says nothing of an empty body, which may be no piece of it', () => {
    expect(new ReceiveBuffer(systemCalls()).holdsAlone(new Uint8Array())).toBe(false);
  });

  it('holds none alone where it cannot be looked into', () => {
    expect(new ReceiveBuffer(NO_CALLS).holdsAlone(bodyBefore('\ra'))).toBe(false);
  });
});
