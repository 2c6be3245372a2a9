import { type E2AResponse, failure, type JsonObject } from '@dragoman/protocols';
import type { Handler } from '../handler.ts';
import type { Clock, Ids } from '../ports.ts';
import { failureOf } from '../refused.ts';
import { FrameMaker } from '../runs/frame-maker.ts';
import type { Agent, AgentPart } from './agent.ts';
import { retold } from './retelling.ts';

/**
 * An agent as a handler. Whatever the agent does (ends twice, goes on after the end, throws, stops without an answer),
 * its request gets frames 0, 1, 2 … and exactly one final one.
 */
export function answering(agent: Agent, { clock, ids }: { clock: Clock; ids: Ids }): Handler {
  return (envelope, call) => {
    const maker = new FrameMaker({ envelope, clock, ids });
    const warn = (fields: { code?: string; error: string }) =>
      call.log.warn({ agent: agent.id, request_id: envelope.request_id, ...fields }, 'the agent failed');
    return retold(() => agent.answer(envelope, call)[Symbol.asyncIterator](), {
      item(part) {
        if (part.part === 'failure') warn({ code: part.failure.code, error: part.failure.message });
        return frameOf(part, maker);
      },
      // What comes after the final frame is not part of the answer.
      isLast: (frame) => frame.is_final,
      end: () => maker.error(failure('agent_failed', {}, 'The agent ended without an answer.')),
      failed(error) {
        if (call.signal.aborted) throw error;
        warn({ error: String(error) });
        return maker.error(failureOf(error) ?? failure('agent_failed'));
      },
    });
  };
}

function frameOf(part: AgentPart, maker: FrameMaker): E2AResponse {
  switch (part.part) {
    case 'chunk':
      return maker.chunk(part.body);
    case 'complete':
      return maker.complete(part.result);
    case 'error': {
      const body: JsonObject = { code: part.code, message: part.message, details: part.details ?? {} };
      return maker.frame({ response_kind: 'e2a.error', is_final: true, status: 'failed', body });
    }
    case 'failure':
      return maker.error(part.failure);
    case 'frame':
      return maker.frame(part.frame);
  }
}
