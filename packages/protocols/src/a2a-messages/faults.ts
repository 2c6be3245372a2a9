import { forbiddenKeysIn } from '../forbidden-key.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { Issue } from '../outcome.ts';
import { MOST_PROBLEMS, show } from '../validation.ts';
import { capabilityWarnings } from './agent-card.ts';
import type { A2AMessage } from './message.ts';
import { FINGERPRINT, isStrictBase64 } from './signature.ts';

/**
 * The problems of a message beyond its schema. Accepts any JSON object, because these problems are listed together with
 * those of the schema.
 */
export function messageFaults(json: JsonObject): readonly Issue[] {
  const { auth, payload } = json;
  const hasOpenRecord = OPEN_RECORDS.has(json['message_type']);
  if (auth === undefined && !hasOpenRecord) return NONE;
  const faults: Issue[] = [];
  if (isObject(auth)) collectAuthFaults(auth, json['sender_id'], faults);
  if (hasOpenRecord && isObject(payload)) collectForbiddenKeys(payload, faults);
  return faults;
}

/** Warnings about a message that is valid, but probably not what the sender wants. */
export function adviceOn(message: A2AMessage): readonly Issue[] {
  const { auth } = message;
  const introduces = message.message_type === 'handshake' || message.message_type === 'handshake_ack';
  if (auth === undefined && !introduces) return NONE;
  const advice: Issue[] = [];
  const fingerprint = auth?.public_key_fingerprint;
  if (fingerprint !== undefined && !FINGERPRINT.test(fingerprint)) {
    advice.push({
      pointer: '/auth/public_key_fingerprint',
      code: 'fingerprint',
      message: `public_key_fingerprint should be sha256: and 64 hex digits; got ${show(fingerprint)}, which no key has`,
    });
  }
  if (introduces) {
    const card = message.payload.agent_card;
    if (card.agent_id !== message.sender_id) {
      advice.push({
        pointer: '/payload/agent_card/agent_id',
        code: 'sender_mismatch',
        message: `agent_card.agent_id should be the sender_id, ${show(message.sender_id)}; got ${show(card.agent_id)}`,
      });
    }
    advice.push(...capabilityWarnings(card.capabilities, '/payload/agent_card/capabilities'));
  }
  return advice;
}

function collectAuthFaults(auth: JsonObject, sender: Json | undefined, faults: Issue[]): void {
  const { agent_id: agent, signature } = auth;
  // Authenticated Message Schema: "Must match sender_id". Otherwise an agent could sign messages in another agent's
  // name.
  if (typeof agent === 'string' && typeof sender === 'string' && agent !== sender) {
    faults.push({
      pointer: '/auth/agent_id',
      code: 'sender_mismatch',
      message: `auth.agent_id must be the sender_id, ${show(sender)}; got ${show(agent)}`,
    });
  }
  if (typeof signature === 'string' && !isStrictBase64(signature)) {
    faults.push({
      pointer: '/auth/signature',
      code: 'base64',
      message: `signature must be standard, padded Base64; got ${show(signature)}`,
      ...(/[-_]/.test(signature) && { suggestion: 'use + and / instead of - and _' }),
    });
  }
}

/** The spec leaves two records open, so the schemas accept forbidden names there. */
function collectForbiddenKeys({ error, agents }: JsonObject, faults: Issue[]): void {
  if (error !== undefined) collectForbidden(error, '/payload/error', faults);
  if (!Array.isArray(agents)) return;
  for (const [index, agent] of agents.entries()) {
    if (faults.length >= MOST_PROBLEMS) return;
    collectForbidden(agent, `/payload/agents/${index}`, faults);
  }
}

function collectForbidden(record: Json, pointer: string, faults: Issue[]): void {
  if (isObject(record)) faults.push(...forbiddenKeysIn(record, pointer));
}

/** The types whose payload has a record the spec leaves open: the error of a response, an announced agent. */
const OPEN_RECORDS: ReadonlySet<Json | undefined> = new Set(['response', 'agent_announcement']);
const NONE: readonly Issue[] = [];
