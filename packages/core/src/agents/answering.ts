import { type E2AResponse, failure, type JsonObject } from '@dragoman/protocols';
import type { Handler } from '../handler.ts';
import type { Clock, Ids } from '../ports.ts';
import { failureOf } from '../refused.ts';
import { FrameMaker } from '../runs/frame-maker.ts';
import type { Agent, AgentPart } from './agent.ts';

/**
 * An agent as a handler. Whatever the agent does (ends twice, goes on after the end, throws, stops without an answer),
 * its request gets frames 0, 1, 2 … and exactly one final one.
 */
export function answering(agent: Agent, { clock, ids }: { clock: Clock; ids: Ids }): Handler {
  return async function* answer(envelope, call) {
    const maker = new FrameMaker({ envelope, clock, ids });
    try {
      for await (const part of agent.answer(envelope, call)) {
        if (part.part === 'failure') {
          const { code, message } = part.failure;
          call.log.warn({ agent: agent.id, request_id: envelope.request_id, code, error: message }, 'the agent failed');
        }
        const frame = frameOf(part, maker);
        yield frame;
        // What comes after the final frame is not part of the answer.
        if (frame.is_final) return;
      }
    } catch (error) {
      if (call.signal.aborted) throw error;
      call.log.warn({ agent: agent.id, request_id: envelope.request_id, error: String(error) }, 'the agent failed');
      yield maker.error(failureOf(error) ?? failure('agent_failed'));
      return;
    }
    yield maker.error(failure('agent_failed', {}, 'The agent ended without an answer.'));
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
