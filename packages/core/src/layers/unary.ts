import { type E2AEnvelope, type E2AResponse, projectionsFor } from '@dragoman/protocols';
import type { Layer } from '../call/handler.ts';
import { wholeAnswer } from '../runs/streamed-text.ts';

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
  const final = await wholeAnswer(frames);
  if (final !== undefined) yield final.sequence === 0 ? final : alone(final, envelope);
}

/**
 * The final frame as the first and only one. Its projections to other protocols depend on that, so they are made again.
 */
function alone(final: E2AResponse, envelope: E2AEnvelope): E2AResponse {
  const first = { ...final, sequence: 0, projections: {} };
  return { ...first, projections: projectionsFor(first, envelope) };
}
