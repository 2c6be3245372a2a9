import { createPublicKey, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { FRESHNESS_WINDOW, type RequestMessage, signedContent } from '@dragoman/protocols/a2a-messages';
import { afterAll, describe, expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { Callers } from '../callers/callers.ts';
import type { Clock } from '../ports/ports.ts';
import { fingerprintOf, type PublicKey } from '../signing/public-keys.ts';
import { Signatures } from '../signing/signatures.ts';
import { SenderProof } from './sender-proof.ts';

const shared = new Signatures();
afterAll(() => shared[Symbol.asyncDispose]());

class SetClock implements Clock {
  time = Date.UTC(2026, 2, 28, 12);
  now = () => new Date(this.time);
  elapsed = () => this.time;
  wait = () => new Promise<void>(() => {});
  after = () => () => {};
}

async function open({
  requireSignatures = false,
  mostNonces = 1000,
  window = FRESHNESS_WINDOW,
  signatures = shared,
} = {}) {
  const clock = new SetClock();
  const store = memoryStore();
  const callers = new Callers({ store: store.agents, clock });
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const public_key = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  await callers.put({ agent_id: 'ada-agent', permissions: {}, public_key });
  const judged = { requireSignatures, mostNonces, window };
  const begin = () => new SenderProof({ callers, nonces: store.nonces, signatures, clock, ...judged });
  const restarted = async () => {
    const next = begin();
    await next.load();
    return next;
  };
  return { clock, store, callers, proof: begin(), privateKey, restarted };
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

function signed(message: RequestMessage, key: KeyObject, nonce = 'a'.repeat(32), named?: string): RequestMessage {
  const hint = named !== undefined && { public_key_fingerprint: named };
  const auth = { agent_id: message.sender_id, timestamp: message.timestamp, nonce, signature: '', ...hint };
  const content = signedContent({ ...message, auth });
  if (!content.ok) throw new Error('no canonical form');
  return { ...message, auth: { ...auth, signature: sign(null, content.value.bytes, key).toString('base64') } };
}

describe('a signature', () => {
  test('proves its agent, and returns the nonce without recording it', async () => {
    const { proof, clock, privateKey, store } = await open();
    const message = signed(request(clock), privateKey);
    const proven = await proof.of(message);
    expect(proven).toMatchObject({ principal: { id: 'ada-agent' }, nonce: { nonce: 'a'.repeat(32) } });
    expect(await store.nonces.count()).toBe(0);
  });

  test('of another key or of an unknown agent fails alike', async () => {
    const { proof, clock, privateKey } = await open();
    const forged = await proof.of(signed(request(clock), generateKeyPairSync('ed25519').privateKey));
    const unknown = await proof.of(signed(request(clock, 'eve-agent'), privateKey));
    expect(forged).toMatchObject({ code: 'unauthenticated' });
    expect(unknown).toEqual(forged);
  });

  test.each([
    ['of an unknown agent', []],
    ['of an agent that signs with Ed25519', [generateKeyPairSync('ed25519')]],
    ['of an agent that signs with P-256', [generateKeyPairSync('ec', { namedCurve: 'P-256' })]],
    ['of an agent that signs with RSA', [generateKeyPairSync('rsa', { modulusLength: 2048 })]],
  ])(
    'that is wrong costs one check of the slowest kind, so that timing does not reveal which agents exist: %s',
    async (_, pairs) => {
      const kinds: (string | undefined)[] = [];
      class Counted extends Signatures {
        override verify(key: PublicKey, text: string, signature: string): Promise<boolean> {
          kinds.push(key.key.asymmetricKeyType);
          return super.verify(key, text, signature);
        }
      }
      await using counted = new Counted();
      const { proof, clock, callers, privateKey } = await open({ signatures: counted });
      const public_key = pairs.map(({ publicKey }) => publicKey.export({ format: 'pem', type: 'spki' })).join('');
      if (public_key !== '') await callers.put({ agent_id: 'eve-agent', permissions: {}, public_key });
      expect(await proof.of(signed(request(clock, 'eve-agent'), privateKey))).toMatchObject({
        code: 'unauthenticated',
      });
      const own = pairs.map(({ publicKey }) => publicKey.asymmetricKeyType);
      expect(kinds).toEqual(own.includes('ed25519') ? own : [...own, 'ed25519']);
    },
  );

  test('that names a key must be by that key, and not by another of the same agent', async () => {
    const { proof, clock, privateKey, callers } = await open();
    const first = createPublicKey(privateKey);
    const second = generateKeyPairSync('ed25519').publicKey;
    const public_key = [first, second].map((key) => key.export({ format: 'pem', type: 'spki' })).join('');
    await callers.put({ agent_id: 'ada-agent', permissions: {}, public_key });
    const naming = (key: KeyObject) => signed(request(clock), privateKey, 'a'.repeat(32), fingerprintOf(key));
    expect(await proof.of(naming(first))).toMatchObject({ fingerprint: fingerprintOf(first) });
    expect(await proof.of(naming(second))).toMatchObject({ code: 'unauthenticated' });
  });

  test('is refused while very many others are being checked, and accepted when they are done', async () => {
    const { proof, clock, privateKey } = await open();
    const message = signed(request(clock), privateKey);
    const many = Array.from({ length: 512 }, () => proof.of(message));
    expect(await proof.of(message)).toMatchObject({ code: 'busy', details: { retry_after: 1 } });
    await Promise.all(many);
    expect(await proof.of(message)).toHaveProperty('principal');
  });

  test('of a clock that is a minute ahead keeps its nonce as long as the message could be accepted again', async () => {
    const { proof, clock, privateKey, store } = await open();
    const ahead = new SetClock();
    ahead.time += 60_000;
    const message = signed(request(ahead), privateKey);
    const proven = await proof.of(message);
    if (!('nonce' in proven) || proven.nonce === undefined) expect.unreachable();
    await store.nonces.use(proven.nonce);
    // Five minutes after its own time, and one minute for clock errors.
    clock.time += 420_000;
    await proof.purge();
    expect(await store.nonces.count()).toBe(1);
  });

  test('is accepted as soon as the clock is right again after it was a day ahead, including after a restart', async () => {
    const { proof, clock, privateKey, store, restarted } = await open();
    const early = await proof.of(signed(request(clock), privateKey, '1'.repeat(32)));
    if (!('nonce' in early) || early.nonce === undefined) expect.unreachable();
    await store.nonces.use(early.nonce);
    clock.time += 24 * 3_600_000;
    const ahead = signed(request(clock), privateKey, '2'.repeat(32));
    const proven = await proof.of(ahead);
    if (!('nonce' in proven) || proven.nonce === undefined) expect.unreachable();
    await store.nonces.use(proven.nonce);
    await proof.purge();
    clock.time -= 24 * 3_600_000 - 61_000;
    for (const judge of [proof, await restarted()]) {
      expect(await judge.of(signed(request(clock), privateKey, '3'.repeat(32)))).toHaveProperty('principal');
      expect(await judge.of(ahead)).toMatchObject({ code: 'invalid_message' });
    }
    // When the clock reaches its time again, its nonce is still known.
    clock.time += 24 * 3_600_000 - 61_000;
    await proof.purge();
    expect(await store.nonces.use(proven.nonce)).toBe('same');
  });

  test('that is too old is refused with the same message whether or not the agent exists', async () => {
    const { proof, clock, privateKey } = await open();
    const [known, unknown] = ['ada-agent', 'eve-agent'].map((sender) => signed(request(clock, sender), privateKey));
    clock.time += 301_000;
    if (known === undefined || unknown === undefined) expect.unreachable();
    const refusal = await proof.of(known);
    expect(refusal).toMatchObject({ code: 'invalid_message' });
    expect(await proof.of(unknown)).toEqual(refusal);
  });

  test('whose nonce was deleted stays too old when the clock is set back to its time, including after a restart', async () => {
    const { proof, clock, privateKey, store, restarted } = await open();
    const old = signed(request(clock), privateKey);
    const proven = await proof.of(old);
    if (!('nonce' in proven) || proven.nonce === undefined) expect.unreachable();
    await store.nonces.use(proven.nonce);
    clock.time += 20 * 60_000;
    await proof.purge();
    expect(await store.nonces.count()).toBe(0);
    clock.time -= 20 * 60_000;
    const next = await restarted();
    for (const judge of [proof, next]) expect(await judge.of(old)).toMatchObject({ code: 'invalid_message' });
  });

  test('is refused when no further nonces can be stored, until old ones are deleted', async () => {
    const { proof, clock, privateKey, store } = await open({ mostNonces: 3 });
    const next = async (nonce: string) => {
      const proven = await proof.of(signed(request(clock), privateKey, nonce.repeat(32)));
      if ('nonce' in proven && proven.nonce !== undefined) await store.nonces.use(proven.nonce);
      return proven;
    };
    for (const nonce of ['1', '2', '3']) expect(await next(nonce)).toHaveProperty('principal');
    expect(await next('4')).toMatchObject({ code: 'busy', details: { retry_after: 60 } });
    clock.time += 16 * 60_000;
    await proof.purge();
    expect(await next('4')).toHaveProperty('principal');
  });

  test('is accepted within the window, and its nonce is kept as long', async () => {
    const window = { ...FRESHNESS_WINDOW, past: 3_600_000, future: 0 };
    const { proof, clock, privateKey, store } = await open({ window });
    const old = signed(request(clock), privateKey);
    const proven = await proof.of(old);
    if (!('nonce' in proven) || proven.nonce === undefined) throw new Error('not proven');
    await store.nonces.use(proven.nonce);
    const ahead = request({ ...clock, now: () => new Date(clock.time + 1) });
    expect(await proof.of(signed(ahead, privateKey))).toMatchObject({ code: 'invalid_message' });

    clock.time += 3_600_000;
    await proof.purge();
    expect(await proof.of(old)).toHaveProperty('nonce');
    expect(await store.nonces.use(proven.nonce)).toBe('same');
    clock.time += 1;
    expect(await proof.of(old)).toMatchObject({ code: 'invalid_message' });
  });

  test('by a key that is removed during the check is refused', async () => {
    const { proof, clock, privateKey, callers } = await open();
    const proving = proof.of(signed(request(clock), privateKey));
    await callers.put({ agent_id: 'ada-agent', permissions: {} });
    expect(await proving).toMatchObject({ code: 'unauthenticated' });
  });

  test('of an agent that is removed, or whose key is, is refused', async () => {
    const { proof, clock, privateKey, callers } = await open();
    await callers.put({ agent_id: 'ada-agent', permissions: {} });
    expect(await proof.of(signed(request(clock), privateKey))).toMatchObject({ code: 'unauthenticated' });
  });
});

describe('without a signature', () => {
  test('a key is enough unless signatures are required', async () => {
    for (const requireSignatures of [false, true]) {
      const { proof, clock, callers } = await open({ requireSignatures });
      const principal = callers.named('ada-agent');
      if (principal === undefined) expect.unreachable();
      const proven = await proof.of(request(clock), { known: principal });
      expect(proven).toMatchObject(
        requireSignatures ? { code: 'unauthenticated' } : { principal: { id: 'ada-agent' } },
      );
      expect(await proof.of(request(clock, 'eve-agent'), { known: principal })).toMatchObject({ code: 'forbidden' });
    }
  });
});
