import { parseTimestamp } from '../time.ts';
import type { MailboxMessage } from './message.ts';

/** Whether a message may no longer be worked on. A mailbox asks on arrival, before the work and before the callback. */
export function isExpired(message: MailboxMessage, now: Date): boolean {
  const { expiresAt } = message.metadata;
  const end = expiresAt === null ? undefined : parseTimestamp(expiresAt);
  // "In the future": at the very instant it is over.
  return end !== undefined && end <= now.getTime();
}
