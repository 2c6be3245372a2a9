import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { type ResponseMessage, signedContent } from '@dragoman/protocols/a2a-messages';
import { afterAll, expect, test } from 'vitest';
import type { Clock, Ids } from '../ports/ports.ts';
import { isSignedBy, publicKeysIn } from '../signing/public-keys.ts';
import { Signatures } from '../signing/signatures.ts';
import { JsonReader } from '../worker-threads/json-reader.ts';
import { MessageSigner } from './message-signer.ts';

const clock: Clock = {
  now: () => new Date(Date.UTC(2026, 2, 28, 12)),
  elapsed: () => 0,
  wait: () => new Promise<void>(() => {}),
  after: () => () => {},
};

const hex = () => randomBytes(16).toString('hex');
const ids: Ids = { hex, sortable: hex, uuid: () => randomUUID() };
const signatures = new Signatures();
afterAll(() => signatures[Symbol.asyncDispose]());

const KEYS: Readonly<Record<string, KeyObject>> = {
  Ed25519: generateKeyPairSync('ed25519').privateKey,
  'ECDSA P-256': generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  RSA: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
};

test.each(Object.entries(KEYS))('messages are signed with the key of the server: %s', async (_name, key) => {
  const signer = new MessageSigner({ key, signatures, clock, ids });
  const message = await signer.sign(response('hello'));
  expect(message).toMatchObject({
    timestamp: '2026-03-28T12:00:00.000Z',
    auth: { agent_id: 'echo', timestamp: '2026-03-28T12:00:00.000Z', public_key_fingerprint: signer.fingerprint },
  });
  const [publicKey] = publicKeysIn(createPublicKey(key).export({ format: 'pem', type: 'spki' }).toString());
  const content = signedContent(message);
  if (publicKey === undefined || !content.ok) expect.unreachable();
  const signature = Buffer.from(message.auth?.signature ?? '', 'base64');
  expect(await isSignedBy(publicKey, content.value.bytes, signature)).toBe(true);
  expect((await signer.sign(response('hello'))).auth?.nonce).not.toBe(message.auth?.nonce);
});

test.each(Object.entries(KEYS))('a long message is signed like a short one: %s', async (_name, key) => {
  const reader = new JsonReader();
  const signer = new MessageSigner({ key, signatures, reader, clock, ids });
  const long = { ...response('hello'), payload: { status: 'success', data: { z: 'ü'.repeat(70_000), a: [1.5, {}] } } };
  const message = await signer.sign(long as ResponseMessage);
  const [publicKey] = publicKeysIn(signer.publicKey);
  const content = signedContent(message);
  if (publicKey === undefined || !content.ok) expect.unreachable();
  const signature = Buffer.from(message.auth?.signature ?? '', 'base64');
  expect(await isSignedBy(publicKey, content.value.bytes, signature)).toBe(true);
  expect(message.payload).toEqual(long.payload);
  await reader[Symbol.asyncDispose]();
});

test('a long message is made canonical in the thread', async () => {
  const reader = new JsonReader();
  const signer = new MessageSigner({ key: KEYS['Ed25519'] as KeyObject, signatures, reader, clock, ids });
  await reader[Symbol.asyncDispose]();
  await expect(signer.sign(response('x'.repeat(70_000)))).rejects.toThrow();
  expect((await signer.sign(response('short'))).auth?.signature).not.toBe('');
});

test('a message over the limit of every endpoint is not sent', async () => {
  const signer = new MessageSigner({ key: KEYS['Ed25519'] as KeyObject, signatures, clock, ids });
  const large = response('x'.repeat(10 * 1024 * 1024));
  await expect(signer.sign(large)).rejects.toThrow('exceeds the message limit of 10 MB');
});

function response(text: string): ResponseMessage {
  return {
    message_id: 'a7f8d9e2-3c4b-4d6e-8f8a-9b0c1d2e3f40',
    message_type: 'response',
    sender_id: 'echo',
    recipient_id: 'ada-agent',
    timestamp: '2026-03-28T11:00:00.000Z',
    payload: { status: 'success', data: { text } },
    correlation_id: 'b7f8d9e2-3c4b-4d6e-8f8a-9b0c1d2e3f40',
  };
}
