import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import type { RequestMessage } from '@dragoman/protocols/a2a-messages';
import { afterAll, expect, test } from 'vitest';
import type { Clock } from '../ports.ts';
import { Callers } from '../registry/callers.ts';
import { Signatures } from '../signing/signatures.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { SenderProof } from './sender-proof.ts';

const clock: Clock = {
  now: () => new Date(Date.UTC(2026, 2, 28, 12)),
  elapsed: () => performance.now(),
  wait: () => new Promise<void>(() => {}),
  after: () => () => {},
};

const signatures = new Signatures();
afterAll(() => signatures[Symbol.asyncDispose]());

/** Agents there are, by what they sign with; and one there is not. */
const AGENTS: Readonly<Record<string, readonly KeyObject[]>> = {
  'unknown-agent': [],
  'ed25519-agent': [generateKeyPairSync('ed25519').publicKey],
  'p256-agent': [generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey],
  'rsa-agent': [generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey],
};

test('how long a refusal takes does not tell whether there is such an agent', async () => {
  const store = new MemoryStore();
  const callers = new Callers({ store: store.agents, clock });
  for (const [agent_id, keys] of Object.entries(AGENTS)) {
    const public_key = keys.map((key) => key.export({ format: 'pem', type: 'spki' }).toString()).join('');
    if (keys.length > 0) await callers.put({ agent_id, permissions: {}, public_key });
  }
  const proof = new SenderProof({ callers, nonces: store.nonces, signatures, clock, requireSignatures: true });
  const times = new Map<string, number[]>(Object.keys(AGENTS).map((name) => [name, []]));
  // In turns, so that a neighbour on the machine slows all of them alike.
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    for (const [name, taken] of times) {
      const message = forged(name);
      const from = performance.now();
      const refused = await proof.of(message);
      if (round >= WARM_UP) taken.push(performance.now() - from);
      expect(refused).toMatchObject({ code: 'unauthenticated' });
    }
  }
  const unknown = lowerMedian(times.get('unknown-agent') ?? []);
  for (const [name, taken] of times) {
    const ratio = lowerMedian(taken) / unknown;
    // Without the work that makes them alike, these are 0.3 and less. What a quicker kind costs beside it shows as a little more.
    expect(ratio, `${name}: ${ratio.toFixed(2)} × an unknown one`).toBeGreaterThan(0.7);
    expect(ratio, `${name}: ${ratio.toFixed(2)} × an unknown one`).toBeLessThan(1.7);
  }
});

/** A message with a signature of the right form, which nobody made. */
function forged(sender_id: string): RequestMessage {
  const timestamp = clock.now().toISOString();
  const signature = Buffer.alloc(64, 7).toString('base64');
  return {
    message_id: randomUUID(),
    message_type: 'request',
    sender_id,
    recipient_id: 'echo',
    timestamp,
    payload: { method: 'say' },
    correlation_id: null,
    auth: { agent_id: sender_id, timestamp, nonce: 'a'.repeat(32), signature },
  };
}

/** Of the quicker half: what is slower than that was somebody else's doing. */
function lowerMedian(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[times.length >> 2] ?? 0;
}

const WARM_UP = 100;
const ROUNDS = 1_000;
