import { type E2AResponse, isObject, type Json } from '@dragoman/protocols';

/** The text that a frame adds to an answer; empty for every other kind of frame. */
export function textOf({ response_kind: frameKind, body }: E2AResponse): string {
  if (frameKind !== 'e2a.chunk') return '';
  const { delta, delta_kind: kind } = body;
  return kind === 'text' && typeof delta === 'string' ? delta : '';
}

/**
 * Reads an answer to its end, for readers that take it whole. Returns the final frame, with the streamed text if it has
 * no result; `undefined` if the frames end without one. `onFrame` is called with each earlier frame.
 */
export async function wholeAnswer(
  frames: AsyncIterable<E2AResponse>,
  onFrame: (frame: E2AResponse) => void = () => {},
): Promise<E2AResponse | undefined> {
  let text = '';
  for await (const frame of frames) {
    if (frame.is_final) return text === '' ? frame : withStreamed(frame, { text });
    text += textOf(frame);
    onFrame(frame);
  }
  return undefined;
}

/**
 * The final frame for readers that take an answer whole. An agent that streams its text need not repeat it at the end,
 * so the streamed text is the result of a final frame that has none.
 */
export function withStreamed(final: E2AResponse, streamed: Json): E2AResponse {
  const { result = null } = final.body;
  const isNone = result === null || (isObject(result) && Object.keys(result).length === 0);
  if (final.response_kind !== 'e2a.complete' || !isNone) return final;
  return { ...final, body: { ...final.body, result: streamed } };
}
