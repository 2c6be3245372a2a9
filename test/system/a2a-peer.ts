import { generateKeyPairSync, type KeyObject, randomBytes, randomUUID, sign, verify } from 'node:crypto';
import { type A2AMessage, signedContent } from '../../packages/protocols/src/a2a-messages/index.ts';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import type { System } from './system.ts';

/** Keys as an agent has them. */
export interface Pair {
  readonly privateKey: KeyObject;
  readonly pem: string;
}

export interface SigningCaller extends Pair {
  readonly agentId: string;
  readonly api_key: string;
}

export function pair({ privateKey, publicKey } = generateKeyPairSync('ed25519')): Pair {
  return { privateKey, pem: publicKey.export({ format: 'pem', type: 'spki' }).toString() };
}

export function signed(
  { privateKey, agentId }: SigningCaller,
  message: JsonObject,
  fields: JsonObject = {},
): JsonObject {
  const auth = {
    agent_id: agentId,
    timestamp: new Date().toISOString(),
    nonce: randomBytes(16).toString('hex'),
    signature: '',
    ...fields,
  };
  const whole = { ...message, sender_id: agentId, auth };
  const content = signedContent(whole as unknown as A2AMessage);
  if (!content.ok) throw new Error('no canonical form');
  const rsa = privateKey.asymmetricKeyType === 'rsa' && { padding: 6, saltLength: 32 };
  const algorithm = privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  const signature = sign(algorithm, content.value.bytes, { key: privateKey, ...rsa }).toString('base64');
  return { ...whole, auth: { ...auth, signature } };
}

export function auth(message: JsonObject): JsonObject {
  return message['auth'] as JsonObject;
}

export function isSignedByServer(message: JsonObject, key: KeyObject): boolean {
  const content = signedContent(message as unknown as A2AMessage);
  if (!content.ok) return false;
  return verify(null, content.value.bytes, key, Buffer.from(String(auth(message)['signature']), 'base64'));
}

export function heading(message_type: string): JsonObject {
  return {
    message_id: randomUUID(),
    message_type,
    sender_id: 'ada-agent',
    recipient_id: 'echo',
    timestamp: new Date().toISOString(),
    correlation_id: null,
  };
}

export function handshake(card: JsonObject = {}): JsonObject {
  return { ...heading('handshake'), payload: { agent_card: { ...CARD, ...card } } };
}

export function request(parameters: JsonObject): JsonObject {
  return { ...heading('request'), payload: { method: 'say', parameters } };
}

export function query(payload: JsonObject): JsonObject {
  return { ...heading('discover_agents'), recipient_id: 'registry', payload };
}

/** A caller that signs with its own key. */
export async function signingCaller(
  system: System,
  agentId: string,
  keys?: { privateKey: KeyObject; publicKey: KeyObject },
): Promise<SigningCaller> {
  const made = pair(keys);
  const { api_key } = await system.caller(agentId, { permissions: { agents: ['*'] }, public_key: made.pem });
  return { ...made, agentId, api_key };
}

/** The public key of a server, from the card of its agent. */
export async function serverKeyOf({ url }: System, key: string): Promise<string> {
  const found = await call(url, { path: '/agents/echo', key });
  const { agent_card } = (await found.json()) as { agent_card: { metadata: { public_key: string } } };
  return agent_card.metadata.public_key;
}

/** How the caller of these tests introduces itself. */
export const CARD = {
  agent_id: 'ada-agent',
  name: 'Ada',
  version: '1.0.0',
  description: 'asks',
  capabilities: ['request'],
  supported_protocols: ['A2A/1.0'],
};
