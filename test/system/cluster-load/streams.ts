import { expect } from 'vitest';
import { isComplete, readAnswer } from './answer-reader.ts';
import type { LoadClient, LoadContext } from './load-context.ts';

/** Streams of frames over E2A. */
export function streams(load: LoadContext): LoadClient {
  const fates = load.fatesOf('streams');
  return {
    async send() {
      const words = load.words();
      const params = { content: words.join(' '), pause_ms: load.below(40) };
      const envelope = { request_id: load.nextId('stream'), method: 'chat.send', agent_ref: { id: 'load' }, params };
      const end = await readAnswer(load, envelope, { fates });
      if (isComplete(end, fates)) expect(end.sequence, envelope.request_id).toBe(words.length);
    },
  };
}
