import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { type RequestMessage, signedContent } from '@dragoman/protocols/a2a-messages';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../ports.ts';
import { Callers } from '../registry/callers.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { SenderProof } from './sender-proof.ts';

class SetClock implements Clock {
  time = Date.UTC(2026, 2, 28, 12);
  now = () => new Date(this.time);
  elapsed = () => this.time;
  wait = () => new Promise<void>(() => {});
  after = () => () => {};
}

async function open({ requireSignatures = false } = {}) {
  const clock = new SetClock();
  const store = new MemoryStore();
  const callers = new Callers({ store: store.agents, clock });
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const public_key = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  await callers.put({ agent_id: 'ada-agent', permissions: {}, public_key });
  const proof = new SenderProof({ callers, nonces: store.nonces, clock, requireSignatures });
  return { clock, store, callers, proof, privateKey };
}

function request(clock: Clock, sender_id = 'ada-agent'): RequestMessage {
  return {
    message_id: randomUUID(),
    message_type: 'request',
    sender_id,
    recipient_id: 'echo',
    timestamp: clock.now().toISOString(),
    payload: { method: 'say' },
    correlation_id: null,
  };
}

function signed(message: RequestMessage, key: KeyObject): RequestMessage {
  const auth = { agent_id: message.sender_id, timestamp: message.timestamp, nonce: 'a'.repeat(32), signature: '' };
  const content = signedContent({ ...message, auth });
  if (!content.ok) throw new Error('no canonical form');
  return { ...message, auth: { ...auth, signature: sign(null, content.value.bytes, key).toString('base64') } };
}

describe('a signature', () => {
  test('proves its agent, and hands on the nonce without using it up', async () => {
    const { proof, clock, privateKey, store } = await open();
    const message = signed(request(clock), privateKey);
    const proven = await proof.of(message, {});
    expect(proven).toMatchObject({ principal: { id: 'ada-agent' }, nonce: { nonce: 'a'.repeat(32) } });
    expect(await store.nonces.latest()).toBe(0);
  });

  test('of another key or of an agent nobody knows fails alike', async () => {
    const { proof, clock, privateKey } = await open();
    const forged = await proof.of(signed(request(clock), generateKeyPairSync('ed25519').privateKey), {});
    const unknown = await proof.of(signed(request(clock, 'eve-agent'), privateKey), {});
    expect(forged).toMatchObject({ code: 'unauthenticated' });
    expect(unknown).toEqual(forged);
  });

  test('that was good stays old when the clock is set back, also after a restart', async () => {
    const { proof, clock, privateKey, store, callers } = await open();
    const old = signed(request(clock), privateKey);
    clock.time += 2 * 3_600_000;
    const proven = await proof.of(signed(request(clock), privateKey), {});
    if (!('nonce' in proven) || proven.nonce === undefined) expect.unreachable();
    await store.nonces.use(proven.nonce);
    clock.time -= 2 * 3_600_000;
    expect(await proof.of(old, {})).toMatchObject({
      code: 'invalid_message',
      details: { issues: [{ code: 'stale' }, {}] },
    });
    const next = new SenderProof({ callers, nonces: store.nonces, clock, requireSignatures: false });
    await next.load();
    expect(await next.of(old, {})).toMatchObject({ code: 'invalid_message' });
  });

  test('of an agent that is gone, or whose key is, is worth nothing', async () => {
    const { proof, clock, privateKey, callers } = await open();
    await callers.put({ agent_id: 'ada-agent', permissions: {} });
    expect(await proof.of(signed(request(clock), privateKey), {})).toMatchObject({ code: 'unauthenticated' });
  });
});

describe('without a signature', () => {
  test('a key is enough unless signatures are required', async () => {
    for (const requireSignatures of [false, true]) {
      const { proof, clock, callers } = await open({ requireSignatures });
      const principal = callers.named('ada-agent');
      if (principal === undefined) expect.unreachable();
      const proven = await proof.of(request(clock), { principal });
      expect(proven).toMatchObject(
        requireSignatures ? { code: 'unauthenticated' } : { principal: { id: 'ada-agent' } },
      );
      expect(await proof.of(request(clock, 'eve-agent'), { principal })).toMatchObject({ code: 'forbidden' });
    }
  });

  test('who signed on the connection before goes on, as long as that key is good', async () => {
    const { proof, clock, callers, privateKey } = await open();
    const proven = await proof.of(signed(request(clock), privateKey), {});
    if (!('fingerprint' in proven) || proven.fingerprint === undefined) expect.unreachable();
    const signer = { agentId: 'ada-agent', fingerprint: proven.fingerprint };
    expect(await proof.of(request(clock), { signer })).toMatchObject({ principal: { id: 'ada-agent' } });
    expect(await proof.of(request(clock, 'eve-agent'), { signer })).toMatchObject({ code: 'forbidden' });
    await callers.put({ agent_id: 'ada-agent', permissions: {} });
    expect(await proof.of(request(clock), { signer })).toMatchObject({ code: 'unauthenticated' });
  });
});
