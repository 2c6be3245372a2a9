import type { Stamp } from '../dialect.ts';
import type { MailboxMessage } from './message.ts';

/** `msg_{timestamp}_{random}` (A2A mailbox, Field Reference, `metadata`): epoch milliseconds and eight hex digits. */
export function mailboxMessageId({ now, random }: { readonly now: Date; readonly random: string }): string {
  return `msg_${now.getTime()}_${random.slice(0, 8)}`;
}

/** The message with the id and time that the sender left out, at the top and in `metadata`. */
export function completed(message: MailboxMessage, { id, now }: Stamp): MailboxMessage {
  const messageId = message.messageId ?? mailboxMessageId({ now, random: id });
  const timestamp = message.timestamp ?? now.toISOString();
  return { ...message, messageId, timestamp, metadata: { ...message.metadata, messageId, timestamp } };
}
