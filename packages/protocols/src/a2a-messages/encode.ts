import type { Json } from '../json.ts';
import type { A2AMessage } from './message.ts';

/** The message as it is written: members in the order of the spec, `correlation_id` always there. */
export function encodeMessage(message: A2AMessage): Json {
  const { message_id, message_type, sender_id, recipient_id, timestamp, payload, auth } = message;
  const correlation_id = message.correlation_id ?? null;
  const written = { message_id, message_type, sender_id, recipient_id, timestamp, payload, correlation_id };
  return (auth === undefined ? written : { ...written, auth }) as Json;
}
