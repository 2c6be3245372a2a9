import { accept, type Issue, isObject, type Json, type Outcome, pointerTo, reject, show } from '@dragoman/protocols';
import { type AgentCard, a2aMessagesDialect, derivedMessageId, REGISTRY } from '@dragoman/protocols/a2a-messages';
import { RESERVED_AGENT_IDS } from '../registry/callers.ts';
import { decodeEndpoint } from './endpoint.ts';

export interface Registration {
  readonly card: AgentCard;
  readonly endpoint: string;
}

/** The body of a registration, `{agent_card, endpoint}`, or every problem. */
export function decodeRegistration(json: Json, now: Date): Outcome<Registration> {
  if (!isObject(json)) {
    return reject({ pointer: '', code: 'type', message: `a registration must be an object; got ${show(json)}` });
  }
  const { agent_card: card, endpoint, ...others } = json;
  const issues: Issue[] = Object.keys(others).map((name) => ({
    pointer: pointerTo('', name),
    code: 'unknown_field',
    message: `${show(name)} is not known here; a registration has agent_card and endpoint`,
  }));
  const place: Outcome<string> =
    typeof endpoint === 'string'
      ? decodeEndpoint(endpoint)
      : reject({ pointer: '/endpoint', code: 'required', message: `endpoint must be a text; got ${show(endpoint)}` });
  if (!place.ok) issues.push(...place.issues);
  // A card is what introduces an agent in a handshake, so that message says what a card may be.
  const introduced = a2aMessagesDialect.decode(
    {
      message_id: derivedMessageId('registration'),
      message_type: 'handshake',
      sender_id: 'agent',
      recipient_id: REGISTRY,
      timestamp: now.toISOString(),
      payload: { agent_card: card ?? null },
    },
    now,
  );
  if (!introduced.ok) {
    issues.push(...introduced.issues.map((issue) => ({ ...issue, pointer: issue.pointer.replace('/payload', '') })));
  }
  const id = isObject(card) ? card['agent_id'] : undefined;
  if (typeof id === 'string' && RESERVED_AGENT_IDS.has(id.toLowerCase())) {
    const message = `agent_card.agent_id must not be ${id}: the name is reserved`;
    issues.push({ pointer: '/agent_card/agent_id', code: 'reserved', message, suggestion: 'choose another name' });
  }
  const size = JSON.stringify(card ?? null).length;
  if (size > LARGEST_CARD) {
    const message = `agent_card must have at most ${LARGEST_CARD} characters as JSON; it has ${size}`;
    issues.push({ pointer: '/agent_card', code: 'too_large', message, suggestion: 'keep metadata short' });
  }
  if (issues.length > 0 || !place.ok || !introduced.ok) return reject(...issues);
  if (introduced.value.message_type !== 'handshake') throw new Error('a handshake was read as something else');
  return accept({ card: introduced.value.payload.agent_card, endpoint: place.value });
}

/** Every card is kept in memory, and told to whoever asks. */
const LARGEST_CARD = 16_384;
