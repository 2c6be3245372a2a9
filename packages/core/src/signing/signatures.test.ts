import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { fingerprintOf, type PublicKey } from './public-keys.ts';
import { Signatures } from './signatures.ts';

const signatures = new Signatures();
afterAll(() => signatures[Symbol.asyncDispose]());

const KINDS = {
  Ed25519: generateKeyPairSync('ed25519'),
  'ECDSA P-256': generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RSA: generateKeyPairSync('rsa', { modulusLength: 2048 }),
};

describe.each(Object.entries(KINDS))('%s', (_name, { privateKey, publicKey }) => {
  test('a signature holds for its text and its key only', async () => {
    const signature = await signatures.sign(privateKey, 'grüße');
    expect(await signatures.verify(publicKeyOf(publicKey), 'grüße', signature)).toBe(true);
    expect(await signatures.verify(publicKeyOf(publicKey), 'grüsse', signature)).toBe(false);
    const others = Object.values(KINDS).filter((other) => other.publicKey !== publicKey);
    for (const other of others) {
      expect(await signatures.verify(publicKeyOf(other.publicKey), 'grüße', signature)).toBe(false);
    }
  });

  test('an invalid signature does not verify, and the others are checked', async () => {
    const good = await signatures.sign(privateKey, 'text');
    const key = publicKeyOf(publicKey);
    const tried = ['', 'AAAA', good, good.slice(4)].map((one) => signatures.verify(key, 'text', one));
    expect(await Promise.all(tried)).toEqual([false, false, true, false]);
  });
});

test('hundreds at once each get their own answer, in any order', async () => {
  const { privateKey, publicKey } = KINDS.Ed25519;
  const key = publicKeyOf(publicKey);
  const checks = Array.from({ length: 400 }, async (_, at) => {
    if (at % 2 === 0) return (await signatures.sign(privateKey, `text ${at}`)) === ed25519(privateKey, `text ${at}`);
    // Every third of them is for another text.
    const text = at % 3 === 0 ? 'another' : `text ${at}`;
    return (await signatures.verify(key, `text ${at}`, ed25519(privateKey, text))) === (at % 3 !== 0);
  });
  expect(new Set(await Promise.all(checks))).toEqual(new Set([true]));
});

test('more keys than the thread keeps are all distinguished', async () => {
  const pairs = Array.from({ length: 1100 }, () => generateKeyPairSync('ed25519'));
  const own = new Signatures();
  // So that the thread is full in the middle of a message.
  expect(await own.verify(publicKeyOf(KINDS['ECDSA P-256'].publicKey), 'text', '')).toBe(false);
  const verdicts = await Promise.all(
    pairs.flatMap(({ privateKey, publicKey }) => {
      const signature = ed25519(privateKey, 'text');
      const foreign = publicKeyOf(KINDS.Ed25519.publicKey);
      return [own.verify(publicKeyOf(publicKey), 'text', signature), own.verify(foreign, 'text', signature)];
    }),
  );
  expect(verdicts.filter((_, at) => at % 2 === 0)).toEqual(pairs.map(() => true));
  expect(verdicts.filter((_, at) => at % 2 === 1)).toEqual(pairs.map(() => false));
  await own[Symbol.asyncDispose]();
});

test('a waiter gets an error when it ends', async () => {
  const ending = new Signatures();
  const waiting = ending.sign(KINDS.Ed25519.privateKey, 'text');
  await ending[Symbol.asyncDispose]();
  await expect(waiting).rejects.toThrow('the server has stopped');
});

function publicKeyOf(key: KeyObject): PublicKey {
  return { key, fingerprint: fingerprintOf(key) };
}

/** Ed25519 always gives the same signature of the same text. */
function ed25519(key: KeyObject, text: string): string {
  return sign(null, Buffer.from(text), key).toString('base64');
}
