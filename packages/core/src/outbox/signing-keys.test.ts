import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { keyIn } from '../signing/key-file.ts';
import { Signatures } from '../signing/signatures.ts';
import { webhookHeaders } from './signature.ts';
import { SigningKeys } from './signing-keys.ts';

const signatures = new Signatures();
afterAll(() => signatures[Symbol.asyncDispose]());

let folder: string;
const store = memoryStore();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-keys-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (log = new SilentLog()) => {
  const key = keyIn(join(folder, 'callbacks.pem'), { log, signs: 'callbacks', isEd25519: true });
  return new SigningKeys({ store: store.outbox, signatures, key });
};

describe('the key that signs callbacks', () => {
  test('is made once, in a file for its owner only, and is the same ever after', () => {
    const first = open();
    expect(first.publicKey).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
    expect(open().publicKey).toBe(first.publicKey);
    expect(readdirSync(folder)).toEqual(['callbacks.pem']);
    expect(statSync(join(folder, 'callbacks.pem')).mode & 0o777).toBe(0o600);
  });

  test('that is damaged is reported with the fix, and not replaced in silence', () => {
    writeFileSync(join(folder, 'callbacks.pem'), 'nonsense');
    expect(() => open()).toThrow(/callbacks\.pem must be a private key.*move it away/);
    expect(readFileSync(join(folder, 'callbacks.pem'), 'utf8')).toBe('nonsense');
  });

  test.each([
    ['ec', () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' })],
    ['rsa', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ])(
    'that the operator put there is refused where it is %s: every receiver would refuse what it signs',
    (kind, made) => {
      const { privateKey } = made();
      writeFileSync(join(folder, 'callbacks.pem'), privateKey.export({ format: 'pem', type: 'pkcs8' }), {
        mode: 0o600,
      });
      expect(() => open()).toThrow(
        new RegExp(`callbacks\\.pem must be an Ed25519 key, .*; it is of kind ${kind}\\. .*move it away`),
      );
    },
  );

  test('that others can read is warned of', () => {
    open();
    const path = join(folder, 'callbacks.pem');
    const text = readFileSync(path);
    rmSync(path);
    writeFileSync(path, text, { mode: 0o644 });
    const log = new SilentLog();
    open(log);
    expect(log.lines).toMatchObject([{ level: 'warn', message: expect.stringContaining('chmod 600') }]);
  });
});

describe('the secret of an agent', () => {
  test('is its own, stays, and changes when another agent gets its id', async () => {
    const keys = open();
    const [ann, bob] = [await keys.shownSecretOf('ann'), await keys.shownSecretOf('bob')];
    expect(ann).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(bob).not.toBe(ann);
    expect(await open().shownSecretOf('ann')).toBe(ann);
    await keys.forget('ann');
    expect(await keys.shownSecretOf('ann')).not.toBe(ann);
  });

  test('is its own, even with the salt of another agent in the database', async () => {
    await store.outbox.salt('cid', 'the same');
    await store.outbox.salt('dan', 'the same');
    const keys = open();
    expect(await keys.shownSecretOf('dan')).not.toBe(await keys.shownSecretOf('cid'));
  });
});

test.each([100, 100_000])('a text of %i characters is signed with the published key', async (length) => {
  const keys = open();
  const text = 'é'.repeat(length);
  const x = Buffer.from(keys.publicKey.slice('whpk_'.length), 'base64').toString('base64url');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const signature = Buffer.from(await keys.sign(text), 'base64');
  expect(verify(null, Buffer.from(text), publicKey, signature)).toBe(true);
  expect(verify(null, Buffer.from(`${text}.`), publicKey, signature)).toBe(false);
});

test('an HMAC signature is that of Standard Webhooks’ own example', async () => {
  const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  const keys = Object.assign(Object.create(open()), {
    secretOf: async () => secret,
    sign: (text: string) => open().sign(text),
  });
  const headers = await webhookHeaders(
    {
      messageId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1614265330,
      body: '{"test": 2432232314}',
      agentId: 'any',
    },
    keys,
  );
  expect(headers).toMatchObject({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': expect.stringMatching(
      /^v1,g0hM9SsE\+OTPJTGt\/tmIKtSyZlE3uFJELVlNIOLJ1OE= v1a,[A-Za-z0-9+/=]{88}$/,
    ),
  });
});
