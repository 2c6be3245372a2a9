import { expect } from 'vitest';
import type { E2AResponse } from '../../../packages/protocols/src/e2a/response.ts';
import type { Envelope } from '../caller.ts';
import { read } from '../caller.ts';
import type { Fates, LoadContext } from './load-context.ts';

export interface AnswerReaderOptions {
  readonly fates: Fates;
  /** Called for each frame when it arrives. */
  readonly onFrame?: (frame: E2AResponse) => void;
}

/** Sends an envelope and reads its answer: what one node breaks off is continued by another. Resolves with the last frame. */
export async function readAnswer(
  load: LoadContext,
  envelope: Envelope,
  { fates, onFrame = () => {} }: AnswerReaderOptions,
): Promise<E2AResponse> {
  const { request_id: requestId } = envelope;
  const frames: string[] = [];
  const end = await load.untilAnswered(fates, async (node) => {
    // Without a frame it is unknown whether it was accepted: the same request again gets the same answer.
    const answer =
      frames.length === 0
        ? await load.cluster.stream(node, envelope)
        : await load.cluster.resume(node, requestId, frames.length - 1);
    try {
      for await (const text of answer.frames()) {
        const frame = read(text);
        // A node that stops ends a stream with what is not a frame of the answer.
        if (frame.sequence === undefined) return undefined;
        expect(frame.sequence, `${requestId} ${text}`).toBe(frames.length);
        frames.push(text);
        onFrame(frame);
        if (frame.is_final) return frame;
      }
      return undefined;
    } finally {
      answer.destroy();
    }
  });
  load.ended.set(requestId, frames);
  return end;
}

/** Whether it ended with its answer. The only other end is that its node was killed. */
export function isComplete(end: E2AResponse, fates: Fates): boolean {
  if (end.response_kind === 'e2a.complete') {
    fates.complete += 1;
    return true;
  }
  expect(end.body['code'], JSON.stringify(end)).toBe('E2A.INTERRUPTED');
  fates.interrupted += 1;
  return false;
}
