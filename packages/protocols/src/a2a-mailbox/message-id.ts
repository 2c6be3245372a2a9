import type { Stamp } from '../dialect.ts';
import type { MailboxMessage } from './message.ts';

/** `msg_{timestamp}_{random}` (A2A mailbox, Field Reference, `metadata`): epoch milliseconds and eight hex digits. */
export function mailboxMessageId({ now, random }: { readonly now: Date; readonly random: string }): string {
  return `msg_${now.getTime()}_${random.slice(0, 8)}`;
}

/** The message with the id and the time the sender left to us, at the top and in `metadata`. */
export function completed(message: MailboxMessage, { id, now }: Stamp): MailboxMessage {
  const messageId = message.messageId ?? mailboxMessageId({ now, random: id });
  const timestamp = message.timestamp ?? now.toISOString();
  return { ...message, messageId, timestamp, metadata: { ...message.metadata, messageId, timestamp } };
}

/** Eight hex digits that are always the same for the same text, so that a repeated frame is the same message. */
export function digitsOf(text: string): string {
  // FNV-1a, 32 bits: nobody's secret hangs on it.
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
