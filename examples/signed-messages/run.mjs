// Two agents with key pairs of their own exchange A2A messages through a third: each can prove who sent what.
// Run it: node examples/signed-messages/run.mjs
import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { createClient } from '@dragoman/client';
import { canonicalJson } from '@dragoman/protocols';
import { startDragoman } from '../support/server.mjs';
import { allHold, step } from '../support/steps.mjs';

const server = await startDragoman({
  folder: import.meta.url,
  config: {
    agents: { archive: { driver: 'module', module: './archive.mjs', skills: ['notes'] } },
    messages: { require_signatures: true },
  },
});
try {
  const [ada, bob] = await Promise.all(['ada-agent', 'bob-agent'].map(withKeyPair));

  const { agents } = await ada.messages.discover({ capabilities: ['notes'] });
  assert.deepEqual(
    agents.map(({ agent_id }) => agent_id),
    ['archive'],
  );
  step('Ada finds who keeps notes.');

  await ada.messages.request('archive', 'keep', { title: 'lunch', text: 'at noon' });
  const note = await bob.messages.request('archive', 'read', { title: 'lunch' });
  assert.deepEqual(note, { notes: 1, text: 'at noon', by: 'ada-agent' });
  step('Bob reads what Ada left, and that it was Ada.');

  const message = signed(ada, { method: 'read', parameters: { title: 'lunch' } });
  const answer = await post(message);
  const { signature, ...auth } = answer.auth;
  const bytes = Buffer.from(canonicalJson({ ...answer, auth }));
  assert.equal(verify(null, bytes, await serverKey(), Buffer.from(signature, 'base64')), true);
  step('The answer is signed too, and can be checked with nothing but a public key.');

  const repeated = await post(message);
  assert.deepEqual([repeated.message_id, repeated.payload], [answer.message_id, answer.payload]);
  step('The same bytes again get the same answer; the agent did not run twice.');

  const changed = structuredClone(message);
  changed.payload.parameters.title = 'dinner';
  assert.equal((await post(changed)).payload.error.code, 'AUTHENTICATION_FAILED');
  step('One changed word, and the signature no longer holds.');

  const inAnothersName = signed(bob, { method: 'read', parameters: { title: 'lunch' } }, 'ada-agent');
  assert.equal((await post(inAnothersName)).payload.error.code, 'AUTHENTICATION_FAILED');
  step("Bob's key does not speak for Ada.");
} finally {
  await server[Symbol.asyncDispose]();
}
allHold();

/** An agent that the operator knows by its public key. */
async function withKeyPair(agentId) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const public_key = publicKey.export({ format: 'pem', type: 'spki' });
  await server.as({ agent_id: agentId, permissions: { agents: ['archive'] }, public_key });
  const client = createClient({ url: server.url });
  return { agentId, privateKey, messages: client.agent({ agentId, sign: (bytes) => sign(null, bytes, privateKey) }) };
}

/** By hand, as an implementation in any language would do it. */
function signed({ agentId, privateKey }, payload, name = agentId) {
  const timestamp = new Date().toISOString();
  const message = {
    message_id: crypto.randomUUID(),
    message_type: 'request',
    sender_id: name,
    recipient_id: 'archive',
    timestamp,
    payload,
    correlation_id: null,
    auth: { agent_id: name, timestamp, nonce: crypto.randomUUID().replaceAll('-', '') },
  };
  const signature = sign(null, Buffer.from(canonicalJson(message)), privateKey).toString('base64');
  return { ...message, auth: { ...message.auth, signature } };
}

async function post(message) {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(`${server.url}/a2a/messages`, { method: 'POST', headers, body: JSON.stringify(message) });
  return answer.json();
}

/** The server's public key stands in every card it gives out. */
async function serverKey() {
  const reader = await server.as({ agent_id: 'reader', permissions: { agents: ['archive'] } });
  const headers = { Authorization: `Bearer ${reader.key}` };
  const card = await (await fetch(`${server.url}/agents/archive`, { headers })).json();
  return createPublicKey(card.agent_card.metadata.public_key);
}
