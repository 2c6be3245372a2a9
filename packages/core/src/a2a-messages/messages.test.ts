import { generateKeyPairSync, type KeyObject, randomBytes, randomUUID, sign } from 'node:crypto';
import { type A2AMessage, signedContent } from '@dragoman/protocols/a2a-messages';
import { afterAll, expect, test, vi } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { systemClock } from '../../test-support/system-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import { AgentRegistry } from '../agent-registry/agent-registry.ts';
import { moduleAgent } from '../agents/module-agent.ts';
import { Engine } from '../engine/engine.ts';
import { ProofFailures } from '../limits/proof-failures.ts';
import { Signatures } from '../signing/signatures.ts';
import { JsonReader } from '../worker-threads/json-reader.ts';
import { AgentConnections } from './agent-connections.ts';
import { MessageSigner } from './message-signer.ts';
import { Messages } from './messages.ts';
import { SenderProof } from './sender-proof.ts';

const [signatures, reader] = [new Signatures(), new JsonReader()];
afterAll(() => Promise.all([signatures[Symbol.asyncDispose](), reader[Symbol.asyncDispose]()]));

test('the payload of a long message is built only after its signature was verified', async () => {
  const [ada, eve] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
  const { messages, engine } = await open(ada.publicKey);
  const take = (key: KeyObject) =>
    messages.converse({ address: '192.0.2.1', signal: new AbortController().signal }).take(JSON.stringify(long(key)));
  const parsed = vi.spyOn(JSON, 'parse');
  const built = () => parsed.mock.calls.filter(([text]) => text.length > 65_536).length;
  expect(await take(eve.privateKey)).toMatchObject({
    message: { payload: { error: { code: 'AUTHENTICATION_FAILED' } } },
  });
  expect(built()).toBe(0);
  expect(await take(ada.privateKey)).toMatchObject({ message: { payload: { status: 'success' } } });
  expect(built()).toBe(1);
  parsed.mockRestore();
  await engine.stop({ drainMs: 0 });
});

async function open(publicKey: KeyObject) {
  const [clock, ids, log, store] = [systemClock, new TestIds(), new SilentLog(), memoryStore()];
  const engine = new Engine({ store, clock, ids, log });
  engine.addAgent(
    moduleAgent('echo', async function* () {
      yield 'received';
    }),
  );
  const public_key = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  await engine.callers.put({ agent_id: 'ada-agent', permissions: { agents: ['*'] }, public_key });
  const proof = new SenderProof({
    callers: engine.callers,
    nonces: store.nonces,
    signatures,
    clock,
    requireSignatures: true,
  });
  const { privateKey: key } = generateKeyPairSync('ed25519');
  const registry = new AgentRegistry({
    store: store.registrations,
    clock,
    hosted: { agents: () => [], version: () => 0 },
    isTaken: () => false,
    names: () => [],
    onChange: () => {},
  });
  const messages = new Messages({
    ...{ engine, registry, proof, reader, clock, ids, log },
    connections: new AgentConnections(),
    proofFailures: new ProofFailures({ clock, perMinute: 120 }),
    nonces: store.nonces,
    signer: new MessageSigner({ key, signatures, reader, clock, ids }),
    card: {
      agent_id: 'dragoman',
      name: 'Dragoman',
      version: '1.0.0',
      description: 'Relays requests.',
      capabilities: [],
      supported_protocols: ['A2A/1.0'],
    },
  });
  return { messages, engine };
}

/** A request of `ada-agent` with a payload of 100 kB. */
function long(key: KeyObject): A2AMessage {
  const timestamp = new Date().toISOString();
  const message: A2AMessage = {
    message_id: randomUUID(),
    message_type: 'request',
    sender_id: 'ada-agent',
    recipient_id: 'echo',
    timestamp,
    payload: { method: 'say', parameters: { content: 'x'.repeat(100_000) } },
    correlation_id: null,
    auth: { agent_id: 'ada-agent', timestamp, nonce: randomBytes(16).toString('hex'), signature: '' },
  };
  const content = signedContent(message);
  if (!content.ok || message.auth === undefined) throw new Error('no canonical form');
  return { ...message, auth: { ...message.auth, signature: sign(null, content.value.bytes, key).toString('base64') } };
}
