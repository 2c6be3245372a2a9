import { accept, type Issue, isObject, issuesOf, type Json, type Outcome, reject } from '@dragoman/protocols';
import { a2aMessagesDialect, derivedMessageId, REGISTRY } from '@dragoman/protocols/a2a-messages';
import { RESERVED_AGENT_IDS } from '../callers/callers.ts';
import { Registration as validate } from '../generated/agent-registry.js';
import { decodeEndpoint } from './endpoint.ts';
import { Registration } from './registration.ts';

/** The body of a registration, `{agent_card, endpoint}`, with its endpoint as a URI; or every problem. */
export function decodeRegistration(json: Json, now: Date): Outcome<Registration> {
  const issues: Issue[] = issuesOf(validate, Registration, json).filter(({ pointer }) => !isOfCard(pointer));
  if (!isObject(json)) return reject(...issues);
  const { agent_card: card, endpoint } = json;
  const place: Outcome<string> = typeof endpoint === 'string' ? decodeEndpoint(endpoint) : reject();
  if (!place.ok) issues.push(...place.issues);
  // A card is decoded as that of a handshake, so that its problems are reported with the nearest fix.
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
  return accept({ agent_card: introduced.value.payload.agent_card, endpoint: place.value });
}

function isOfCard(pointer: string): boolean {
  return pointer === '/agent_card' || pointer.startsWith('/agent_card/');
}

/** Every card is kept in memory and sent with discovery answers. */
const LARGEST_CARD = 16_384;
