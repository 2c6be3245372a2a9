import { type E2AResponse, type Failure, failure, isObject, type JsonObject } from '@dragoman/protocols';
import { MAX_MESSAGE_BYTES } from '@dragoman/protocols/a2a-messages';

/**
 * The one frame an A2A response is made from: an answer comes whole. What was streamed before a final frame without a result
 * of its own is that result. Who takes no streams gets a failure at the first part of one.
 */
export async function collectAnswer(
  frames: AsyncIterable<E2AResponse>,
  { takesStreams }: { takesStreams: boolean },
): Promise<E2AResponse | Failure> {
  let text = '';
  for await (const frame of frames) {
    if (frame.is_final) return text === '' ? frame : withResult(frame, { text });
    if (frame.response_kind !== 'e2a.chunk') continue;
    if (!takesStreams) {
      const message = 'This agent streams its answer, and your card says no_streaming.';
      const suggestions = ['take no_streaming out of the capabilities of your card to get it in one piece'];
      return failure('capability_missing', { suggestions }, message);
    }
    const { delta, delta_kind: kind } = frame.body;
    if (kind === 'text' && typeof delta === 'string') text += delta;
    if (text.length > MAX_MESSAGE_BYTES) {
      return failure('agent_failed', {}, 'What the agent says is larger than the 10 MB a message may have.');
    }
  }
  return failure('agent_failed');
}

function withResult(frame: E2AResponse, collected: JsonObject): E2AResponse {
  const { result = null } = frame.body;
  const isNone = result === null || (isObject(result) && Object.keys(result).length === 0);
  if (frame.response_kind !== 'e2a.complete' || !isNone) return frame;
  return { ...frame, body: { ...frame.body, result: collected } };
}
