import { type E2AResponse, failure, type JsonObject } from '@dragoman/protocols';
import type { Call } from '../call/call.ts';
import type { Handler } from '../call/handler.ts';
import { jsonSize } from '../json/json-size.ts';
import type { Clock, Ids } from '../ports/ports.ts';
import { failureOf } from '../refusals/refused.ts';
import { FrameMaker } from '../runs/frame-maker.ts';
import { type Agent, type AgentPart, agentFailed } from './agent.ts';
import { type AnswerMapping, mapAnswer } from './map-answer.ts';

export interface AnsweringOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  /** The limit on one answer, over all its frames: it must not fill the disk or a reader's memory. Default: 64 MiB. */
  readonly answerBytes?: number | undefined;
}

/**
 * An agent as a handler. Whatever the agent does (ends twice, continues after the end, throws, stops without an answer), its
 * request gets frames 0, 1, 2 … and exactly one final frame.
 */
export function answering(agent: Agent, { clock, ids, answerBytes = ANSWER_BYTES }: AnsweringOptions): Handler {
  return (envelope, call) => {
    const maker = new FrameMaker({ envelope, clock, ids });
    const mapping = new FrameMapping({ agent, call, maker, requestId: envelope.request_id, answerBytes });
    return mapAnswer(() => agent.answer(envelope, call)[Symbol.asyncIterator](), mapping);
  };
}

/** The parts of an agent's answer as frames. */
class FrameMapping implements AnswerMapping<AgentPart, E2AResponse> {
  readonly #agent: Agent;
  readonly #call: Call;
  readonly #maker: FrameMaker;
  readonly #requestId: string | null;
  readonly #answerBytes: number;
  #bytes = 0;

  constructor({ agent, call, maker, requestId, answerBytes }: FrameMappingOptions) {
    this.#agent = agent;
    this.#call = call;
    this.#maker = maker;
    this.#requestId = requestId;
    this.#answerBytes = answerBytes;
  }

  item(part: AgentPart): E2AResponse {
    if (part.part === 'failure') this.#warn({ code: part.failure.code, error: part.failure.message });
    const frame = frameOf(part, this.#maker);
    this.#bytes += jsonSize(frame.body);
    return this.#bytes > this.#answerBytes && part.part !== 'failure' ? this.item(this.#tooLong()) : frame;
  }

  #tooLong(): AgentPart {
    return agentFailed(
      `The answer exceeds ${this.#answerBytes} bytes; answer_bytes of the configuration is the limit.`,
    );
  }

  /** Parts after the final frame are not part of the answer. */
  isLast(frame: E2AResponse): boolean {
    return frame.is_final;
  }

  end(): E2AResponse {
    return this.#maker.error(failure('agent_failed', {}, 'The agent ended without an answer.'));
  }

  failed(error: unknown): E2AResponse {
    if (this.#call.signal.aborted) throw error;
    this.#warn({ error: String(error) });
    return this.#maker.error(failureOf(error) ?? failure('agent_failed'));
  }

  #warn(fields: { code?: string; error: string }): void {
    this.#call.log.warn({ agent: this.#agent.id, request_id: this.#requestId, ...fields }, 'the agent failed');
  }
}

interface FrameMappingOptions {
  readonly agent: Agent;
  readonly call: Call;
  readonly maker: FrameMaker;
  readonly requestId: string | null;
  readonly answerBytes: number;
}

/** One part as the next frame. */
export function frameOf(part: AgentPart, maker: FrameMaker): E2AResponse {
  switch (part.part) {
    case 'chunk':
      return maker.chunk(part.body);
    case 'complete':
      return maker.complete(part.result);
    case 'error': {
      const { part: _, ...error } = part;
      const body: JsonObject = { ...error, details: error.details ?? {} };
      return maker.frame({ response_kind: 'e2a.error', is_final: true, status: 'failed', body });
    }
    case 'failure':
      return maker.error(part.failure);
    case 'frame':
      return maker.frame(part.frame);
  }
}

export const ANSWER_BYTES = 64 * 1024 * 1024;
