import type { Json } from '../json.ts';
import type { A2AMessage } from './message.ts';

/**
 * The message as it is sent: members in the order of the spec, always with `correlation_id`, and `auth` before
 * `payload`, so that a receiver sees who signed before it reads a long payload.
 */
export function encodeMessage(message: A2AMessage): Json {
  const { message_id, message_type, sender_id, recipient_id, timestamp, payload, auth } = message;
  const correlation_id = message.correlation_id ?? null;
  const signed = auth === undefined ? {} : { auth };
  return { message_id, message_type, sender_id, recipient_id, timestamp, ...signed, payload, correlation_id } as Json;
}
