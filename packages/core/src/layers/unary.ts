import { type E2AEnvelope, type E2AResponse, projectionsFor } from '@dragoman/protocols';
import type { Layer } from '../call/handler.ts';
import { textOf, withStreamed } from '../runs/streamed-text.ts';

/**
 * A unary answer is a stream of one frame: a request with `is_stream: false` is recorded as its final frame alone, with
 * the text of the chunks as its result where the agent returned none.
 */
export function unary(): Layer {
  return (next) => (envelope, call) => {
    const frames = next(envelope, call);
    return envelope.is_stream ? frames : folded(frames, envelope);
  };
}

async function* folded(
  frames: AsyncIterable<E2AResponse>,
  envelope: E2AEnvelope,
): AsyncGenerator<E2AResponse, void, undefined> {
  let text = '';
  for await (const frame of frames) {
    if (!frame.is_final) {
      text += textOf(frame);
      continue;
    }
    yield frame.sequence === 0 ? frame : alone(text === '' ? frame : withStreamed(frame, { text }), envelope);
    return;
  }
}

/**
 * The final frame as the first and only one. Its projections to other protocols depend on that, so they are made again.
 */
function alone(final: E2AResponse, envelope: E2AEnvelope): E2AResponse {
  const first = { ...final, sequence: 0, projections: {} };
  return { ...first, projections: projectionsFor(first, envelope) };
}
