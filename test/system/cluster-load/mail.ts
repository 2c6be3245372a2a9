import { expect } from 'vitest';
import type { LoadClient, LoadContext } from './load-context.ts';

/** Messages to the mailbox whose answers arrive as callbacks, each under one id. */
export function mail(load: LoadContext): LoadClient {
  const fates = load.fatesOf('mail');
  const { receiver } = load.options;
  const sent: string[] = [];
  return {
    async send() {
      const messageId = load.nextId('message');
      const from = { name: 'Ada', callbackUrl: receiver.url('/callback') };
      const metadata = { threadId: `thread-${messageId}` };
      await load.post(fates, '/a2a', { messageId, from, message: 'Hello there', metadata });
      sent.push(messageId);
    },
    async check() {
      for (const messageId of sent) {
        const callbacks = () => receiver.received.filter(({ body }) => body.includes(`"${messageId}"`));
        await expect.poll(() => callbacks().length, { timeout: 60_000 }).toBeGreaterThan(0);
        expect(new Set(callbacks().map(({ id }) => id)).size, messageId).toBe(1);
        expect(new Set(callbacks().map(({ body }) => body)).size, messageId).toBe(1);
        fates.complete += 1;
      }
    },
  };
}
