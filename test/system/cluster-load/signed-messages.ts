import { expect } from 'vitest';
import type { JsonObject } from '../../../packages/protocols/src/json.ts';
import { request, signed } from '../a2a-peer.ts';
import type { LoadClient, LoadContext } from './load-context.ts';

/** Signed A2A messages. The same bytes again, at any node, are answered with the recorded answer. */
export function signedMessages(load: LoadContext): LoadClient {
  const fates = load.fatesOf('signed messages');
  const answerTo = async (message: JsonObject) => {
    const { message_id, payload } = await load.post(fates, '/a2a/messages', message);
    return { message_id, payload };
  };
  return {
    async send() {
      const content = load.words().join(' ');
      const unsigned = { ...request({ content, pause_ms: load.below(20) }), recipient_id: 'load' };
      const message = signed(load.cluster.client, unsigned);
      const answer = await answerTo(message);
      expect(await answerTo(message)).toEqual(answer);
      const requestId = String((unsigned as JsonObject)['message_id']);
      load.ended.set(requestId, undefined);
      const payload = answer.payload as JsonObject;
      if (payload['status'] === 'success') {
        expect(payload, requestId).toMatchObject({ data: { echoed: content } });
        fates.complete += 1;
      } else {
        expect(payload, requestId).toMatchObject({ status: 'error', error: { code: 'SERVICE_UNAVAILABLE' } });
        fates.interrupted += 1;
      }
    },
  };
}
