import { createPublicKey, randomBytes, randomUUID, sign, verify } from 'node:crypto';
import type { JsonObject } from '@dragoman/protocols';
import { type A2AMessage, signedContent } from '@dragoman/protocols/a2a-messages';
import type { Guest, Stage } from './stage.ts';

/** A signed A2A request and its answer, both as they were on the wire. */
export interface SignedExchange {
  readonly sent: JsonObject;
  readonly answer: JsonObject;
  /** Whether the server's own signature of the answer is good. */
  readonly isAnswerSigned: boolean;
}

/** Sends a request as the guest, which is identified only by its signature. */
export async function askSigned(
  { url, key, signal }: Stage,
  guest: Guest,
  { agent, content }: { agent: string; content: string },
): Promise<SignedExchange> {
  const sent = signedBy(guest, {
    message_id: randomUUID(),
    message_type: 'request',
    sender_id: guest.agentId,
    recipient_id: agent,
    timestamp: new Date().toISOString(),
    payload: { method: 'ask', parameters: { content } },
    correlation_id: null,
  });
  const answer = await post(new URL('/a2a/messages', url), sent, signal);
  return { sent, answer, isAnswerSigned: isSigned(answer, await serverKey({ url, key, agent, signal })) };
}

function signedBy({ agentId, privateKey }: Guest, message: JsonObject): JsonObject {
  const auth = { agent_id: agentId, timestamp: new Date().toISOString(), nonce: randomBytes(16).toString('hex') };
  const signature = sign(null, bytesOf({ ...message, auth }), privateKey).toString('base64');
  return { ...message, auth: { ...auth, signature } };
}

function isSigned(message: JsonObject, publicKey: string): boolean {
  const { auth } = message as { auth?: { signature?: string } };
  if (typeof auth?.signature !== 'string') return false;
  return verify(null, bytesOf(message), createPublicKey(publicKey), Buffer.from(auth.signature, 'base64'));
}

function bytesOf(message: JsonObject): Uint8Array {
  const content = signedContent(message as unknown as A2AMessage);
  if (!content.ok) throw new Error('the message has no canonical form');
  return content.value.bytes;
}

/** The server's public key, from the card of an agent. */
async function serverKey({
  url,
  key,
  agent,
  signal,
}: {
  url: string;
  key: string;
  agent: string;
  signal: AbortSignal;
}): Promise<string> {
  const answer = await fetch(new URL(`/agents/${agent}`, url), { headers: { Authorization: `Bearer ${key}` }, signal });
  const { agent_card } = (await answer.json()) as { agent_card: { metadata: { public_key: string } } };
  return agent_card.metadata.public_key;
}

async function post(url: URL, json: JsonObject, signal: AbortSignal): Promise<JsonObject> {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(json), signal });
  return (await answer.json()) as JsonObject;
}
