import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { REQUEST_ID_DIGITS, type RequestId, requestIds } from '../../src/http/request-id.ts';
import { statusAndId } from '../../src/http/responses.ts';
import type { Entropy } from '../../src/lib/entropy.ts';

/** More than are cut from what is drawn at a time. */
const MANY = 2000;

function ids(): { readonly all: RequestId[]; readonly drawn: string } {
  const pieces: Uint8Array[] = [];
  const entropy: Entropy = {
    bytes: (count) => {
      const piece = randomBytes(count);
      pieces.push(piece);
      return piece;
    },
    uuid: () => {
      throw new Error('no UUID is asked for');
    },
  };
  const next = requestIds(entropy);
  const all = Array.from({ length: MANY }, next);
  return { all, drawn: Buffer.concat(pieces).toString('hex') };
}

it('cuts ids from what is random, none of it twice, and keeps them as they were', () => {
  const { all, drawn } = ids();
  let from = 0;
  for (const id of all) {
    const text = id.toString();
    expect(text).toMatch(/^[0-9a-f]{24}$/);
    const at = drawn.indexOf(text, from);
    expect(at).toBeGreaterThanOrEqual(from);
    from = at + REQUEST_ID_DIGITS;
  }
});

it('is written behind a status as it reads, whatever was written there before', () => {
  const { all } = ids();
  for (const [place, id] of all.slice(0, 20).entries()) {
    const status = place % 2 === 0 ? 201 : 400;
    const reason = place % 2 === 0 ? 'Created' : 'Bad Request';
    const written = statusAndId(status, id);
    expect(Buffer.from(written).toString()).toBe(`${status} ${reason}\r\nX-Request-Id: ${id}`);
  }
});
