/** What is remembered of headers: good ones, one spelling of each, a bounded number, and none past a revocation. */
import { beforeEach, describe, expect, it } from 'vitest';
import { agentId, keyId, tenantId } from '../../src/domain/ids.ts';
import type { ApiKey } from '../../src/domain/key.ts';
import { Authenticator } from '../../src/http/authentication.ts';
import { systemEntropy } from '../../src/lib/entropy.ts';
import { newApiKey, sha256Hex } from '../../src/lib/secrets.ts';

const MAX_REMEMBERED = 65_536;

let keys: Map<string, ApiKey>;
let revocations: number;
let lookUps: number;
let authenticator: Authenticator;

beforeEach(() => {
  keys = new Map();
  revocations = 0;
  lookUps = 0;
  authenticator = new Authenticator({
    get: (hash) => {
      lookUps += 1;
      return keys.get(hash);
    },
    revocations: () => revocations,
  });
});

function newKey(): string {
  const text = newApiKey('fsk_ing_', systemEntropy);
  keys.set(sha256Hex(text), {
    id: keyId(text),
    tenantId: tenantId('t'),
    kind: 'ingest',
    agentId: agentId(text),
    name: null,
    hash: sha256Hex(text),
    createdAtMs: 0,
    revokedAtMs: null,
    idsRow: 0,
  });
  return text;
}

const isGood = (header: string) => !('type' in authenticator.authenticate(header, 'ingest'));

describe('a header', () => {
  it('is looked up once, while no key is revoked', () => {
    const header = `Bearer ${newKey()}`;
    for (let n = 0; n < 3; n += 1) expect(isGood(header)).toBe(true);
    expect(lookUps).toBe(1);
    revocations += 1;
    expect(isGood(header)).toBe(true);
    expect(lookUps).toBe(2);
  });

  it('is good no more from when its key is revoked, however often it was before', () => {
    const key = newKey();
    expect(isGood(`Bearer ${key}`)).toBe(true);
    keys.delete(sha256Hex(key));
    revocations += 1;
    expect(isGood(`Bearer ${key}`)).toBe(false);
  });

  it("is its own key's, whatever others come between", () => {
    const headers = Array.from({ length: 10_000 }, () => newKey()).map(
      (key) => [key, `Bearer ${key}`] as const,
    );
    for (let round = 0; round < 3; round += 1) {
      for (const [key, header] of headers) {
        expect(authenticator.authenticate(header, 'ingest')).toMatchObject({ id: key, agentId: key });
      }
    }
    expect(lookUps).toBe(headers.length);
  });

  it('that is not good is not remembered', () => {
    for (const header of ['', 'Bearer', 'Bearer x', `Bearer ${newApiKey('fsk_ing_', systemEntropy)}`]) {
      expect(isGood(header)).toBe(false);
    }
    expect(authenticator.remembered).toBe(0);
  });

  it('is remembered in one spelling: who has a key cannot fill the memory with others', () => {
    const key = newKey();
    for (let n = 1; n < 2000; n += 1) expect(isGood(`Bearer${' '.repeat(n)}${key}`)).toBe(true);
    for (const scheme of ['bearer', 'BEARER', 'bEaReR']) expect(isGood(`${scheme} ${key}`)).toBe(true);
    expect(authenticator.remembered).toBe(1);
  });

  it('leaves where there are too many, and is good all the same', () => {
    const first = `Bearer ${newKey()}`;
    expect(isGood(first)).toBe(true);
    for (let n = 1; n < MAX_REMEMBERED; n += 1) isGood(`Bearer ${newKey()}`);
    expect(authenticator.remembered).toBe(MAX_REMEMBERED);
    expect(isGood(`Bearer ${newKey()}`)).toBe(true);
    expect(authenticator.remembered).toBe(1);
    expect(isGood(first)).toBe(true);
    expect(lookUps).toBe(MAX_REMEMBERED + 2);
  });
});
