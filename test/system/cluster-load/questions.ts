import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { E2AResponse } from '../../../packages/protocols/src/e2a/response.ts';
import { isComplete, readAnswer } from './answer-reader.ts';
import type { LoadClient, LoadContext } from './load-context.ts';

/** Questions of a running agent, answered at any node after a while. If the agent's node is killed before, the request ends as interrupted. */
export function questions(load: LoadContext): LoadClient {
  const fates = load.fatesOf('questions');

  /** The status of the answer: 409 if an earlier try has arrived, or the request has ended; 404 if its node is gone. */
  async function answer(requestId: string, { body }: E2AResponse): Promise<number> {
    await pause(load.below(500));
    const path = `/e2a/requests/${requestId}/questions/${body['id']}`;
    return (await load.request(fates, { method: 'POST', path, json: { option_id: 'allow' } })).status;
  }

  return {
    async send() {
      const requestId = load.nextId('question');
      const params = { content: {} };
      const envelope = { request_id: requestId, method: 'chat.send', agent_ref: { id: 'asker' }, params };
      let answering: Promise<number> | undefined;
      const onFrame = (frame: E2AResponse) => {
        if (frame.response_kind !== 'acp.output_request') return;
        answering = answer(requestId, frame);
        // Its failure is reported where it is awaited.
        answering.catch(() => {});
      };
      const end = await readAnswer(load, envelope, { fates, onFrame });
      const status = await answering;
      if (isComplete(end, fates)) {
        expect([200, 409], requestId).toContain(status);
        expect(end.body['result'], requestId).toMatchObject({ answer: { option_id: 'allow' } });
      } else expect([undefined, 200, 404, 409], requestId).toContain(status);
    },
  };
}
