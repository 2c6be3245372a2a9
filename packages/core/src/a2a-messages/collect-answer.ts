import { type E2AResponse, type Failure, failure } from '@dragoman/protocols';
import { MAX_MESSAGE_BYTES } from '@dragoman/protocols/a2a-messages';
import { textOf, withStreamed } from '../runs/streamed-text.ts';

/**
 * The frame from which the A2A response is made, because an answer is one message. Without a result in the final frame, the streamed
 * text is the result. An earlier frame is returned where `isEnough` accepts it.
 */
export async function collectAnswer(
  frames: AsyncIterable<E2AResponse>,
  isEnough: (frame: E2AResponse) => boolean | Promise<boolean> = () => false,
): Promise<E2AResponse | Failure> {
  let text = '';
  for await (const frame of frames) {
    if (await isEnough(frame)) return frame;
    if (frame.is_final) return text === '' ? frame : withStreamed(frame, { text });
    if (frame.response_kind !== 'e2a.chunk') continue;
    text += textOf(frame);
    if (text.length > MAX_MESSAGE_BYTES) {
      return failure('agent_failed', {}, 'The answer of the agent exceeds the message limit of 10 MB.');
    }
  }
  return failure('agent_failed');
}
