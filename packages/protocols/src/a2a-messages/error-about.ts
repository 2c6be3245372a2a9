import type { Stamp } from '../dialect.ts';
import type { Failure } from '../failure.ts';
import { isObject, type Json } from '../json.ts';
import { isAgentId } from './agent-id.ts';
import { DRAGOMAN, errorFrom } from './hub.ts';
import type { ErrorMessage } from './message.ts';
import { isMessageId, messageIdFrom } from './message-id.ts';

/**
 * The `error` for an unreadable message that has an id and a sender. There is none for answers and goodbyes, otherwise
 * two peers could exchange errors endlessly.
 */
export function errorAbout(json: Json, failure: Failure, stamp: Stamp): ErrorMessage | undefined {
  if (!isObject(json)) return undefined;
  const { message_id: cause, message_type: type, sender_id: sender, recipient_id: recipient } = json;
  if (!isMessageId(cause) || !isAgentId(sender) || UNANSWERED.has(type)) return undefined;
  return {
    message_id: messageIdFrom(stamp.id),
    message_type: 'error',
    sender_id: isAgentId(recipient) ? recipient : DRAGOMAN,
    recipient_id: sender,
    timestamp: stamp.now.toISOString(),
    payload: { error: errorFrom(failure) },
    correlation_id: cause,
  };
}

const UNANSWERED: ReadonlySet<Json | undefined> = new Set([
  'response',
  'handshake_ack',
  'error',
  'agent_announcement',
  'goodbye',
]);
