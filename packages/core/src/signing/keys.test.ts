import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import { keyIn } from './key-file.ts';
import { privateKeyIn, signedBy } from './private-key.ts';
import { fingerprintOf, isSignedBy, publicKeyFault, publicKeysIn } from './public-keys.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-keys-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const log = new SilentLog();
const bytes = Buffer.from('what is signed');

type Kind = { privateKey: KeyObject; publicKey: KeyObject };
const rsaPss = (details: object): Kind =>
  generateKeyPairSync('rsa-pss', Object.assign({ modulusLength: 2048 }, details));
const GOOD: Readonly<Record<string, Kind>> = {
  Ed25519: generateKeyPairSync('ed25519'),
  'ECDSA P-256': generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RSA: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  'RSA-PSS bound to nothing': rsaPss({}),
  'RSA-PSS bound to SHA-256': rsaPss({ hashAlgorithm: 'sha256', mgf1HashAlgorithm: 'sha256', saltLength: 32 }),
};
const BAD: Readonly<Record<string, Kind>> = {
  'RSA of 1024 bits': generateKeyPairSync('rsa', { modulusLength: 1024 }),
  'ECDSA P-384': generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  Ed448: generateKeyPairSync('ed448'),
  X25519: generateKeyPairSync('x25519'),
  'RSA-PSS bound to SHA-512': rsaPss({ hashAlgorithm: 'sha512', mgf1HashAlgorithm: 'sha512' }),
  'RSA-PSS with a longer salt': rsaPss({ hashAlgorithm: 'sha256', mgf1HashAlgorithm: 'sha256', saltLength: 64 }),
};

describe.each(Object.entries(GOOD))('%s', (_name, { privateKey, publicKey }) => {
  test('its signature proves its own key, and no other', async () => {
    const [key, ...more] = publicKeysIn(spki(publicKey));
    expect(more).toEqual([]);
    if (key === undefined) expect.unreachable();
    expect(key.fingerprint).toBe(fingerprintOf(publicKey));
    const own = privateKeyIn(pkcs8(privateKey));
    if (own === undefined) expect.unreachable();
    const signature = await signedBy(own, bytes);
    expect(await isSignedBy(key, bytes, signature)).toBe(true);
    expect(await isSignedBy(key, Buffer.from('what is sighed'), signature)).toBe(false);
    for (const other of Object.values(GOOD)) {
      if (other.privateKey === privateKey) continue;
      expect(await isSignedBy(key, bytes, await signedBy(other.privateKey, bytes))).toBe(false);
    }
  });
});

test.each(Object.entries(BAD))('%s is not a key to sign messages with', (_name, { privateKey, publicKey }) => {
  expect(publicKeyFault(spki(publicKey))).toBeDefined();
  expect(privateKeyIn(pkcs8(privateKey))).toBeUndefined();
});

test('a signature in another form is invalid: ECDSA as two numbers, RSA with PKCS #1 padding', async () => {
  const { 'ECDSA P-256': ec, RSA: rsa } = GOOD;
  if (ec === undefined || rsa === undefined) expect.unreachable();
  const [ecKey] = publicKeysIn(spki(ec.publicKey));
  const [rsaKey] = publicKeysIn(spki(rsa.publicKey));
  if (ecKey === undefined || rsaKey === undefined) expect.unreachable();
  const plain = sign('sha256', bytes, { key: ec.privateKey, dsaEncoding: 'ieee-p1363' });
  expect(verify('sha256', bytes, { key: ec.publicKey, dsaEncoding: 'ieee-p1363' }, plain)).toBe(true);
  expect(await isSignedBy(ecKey, bytes, plain)).toBe(false);
  expect(await isSignedBy(rsaKey, bytes, sign('sha256', bytes, rsa.privateKey))).toBe(false);
});

test.each([
  ['a private key', pkcs8(GOOD['Ed25519']?.privateKey as KeyObject)],
  ['three keys', spki(GOOD['Ed25519']?.publicKey as KeyObject).repeat(3)],
  ['a key and words', `${spki(GOOD['Ed25519']?.publicKey as KeyObject)}hello`],
  ['nothing', ''],
])('%s is not a public key', (_name, text) => {
  expect(publicKeyFault(text)).toMatch(/SPKI PEM/);
});

test('the key of a server is made once, for its owner only, and of any kind an operator puts there', () => {
  const path = join(folder, 'messages.pem');
  const made = keyIn(path, { log, signs: 'messages' });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(spki(createPublicKey(keyIn(path, { log, signs: 'messages' })))).toBe(spki(createPublicKey(made)));
  for (const { privateKey, publicKey } of Object.values(GOOD)) {
    writeFileSync(path, pkcs8(privateKey));
    expect(spki(createPublicKey(keyIn(path, { log, signs: 'messages' })))).toBe(spki(publicKey));
  }
  for (const text of [pkcs8(BAD['Ed448']?.privateKey as KeyObject), 'no key']) {
    writeFileSync(path, text);
    expect(() => keyIn(path, { log, signs: 'messages' })).toThrow('must be a private key');
  }
});

function spki(key: KeyObject): string {
  return key.export({ format: 'pem', type: 'spki' }).toString();
}

function pkcs8(key: KeyObject): string {
  return key.export({ format: 'pem', type: 'pkcs8' }).toString();
}
