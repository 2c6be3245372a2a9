import { parseTimestamp } from '../time.ts';
import type { MailboxMessage } from './message.ts';

/** Whether a message has expired. Checked on arrival, before the work and before the callback. */
export function isExpired(message: MailboxMessage, now: Date): boolean {
  const { expiresAt } = message.metadata;
  const end = expiresAt === null ? undefined : parseTimestamp(expiresAt);
  // `expiresAt` must be "in the future", so the message expires at exactly that instant.
  return end !== undefined && end <= now.getTime();
}
