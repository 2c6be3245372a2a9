import { type AgentQuestion, agentQuestionIn, type E2AEnvelope, newEnvelope } from '@dragoman/protocols';
import type { Call } from '../call/call.ts';
import type { Clock, Ids } from '../ports/ports.ts';
import type { AgentPart } from './agent.ts';
import type { IdleTimer } from './idle-timer.ts';

export interface AgentQuestionsOptions {
  readonly envelope: E2AEnvelope;
  /** The request's id at the agent. */
  readonly requestId: string | null;
  readonly call: Call;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  /** Suspended while a person is asked. */
  readonly idle?: Pick<IdleTimer, 'suspend'>;
  /** Sends an envelope that the agent does not answer. */
  readonly send: (envelope: E2AEnvelope) => unknown;
}

/**
 * The questions that an agent outside this process asks in its frames. Each question is put to a person, and the answer
 * is sent to the agent. Meanwhile the agent's other frames are passed on.
 */
export class AgentQuestions {
  readonly #options: AgentQuestionsOptions;

  constructor(options: AgentQuestionsOptions) {
    this.#options = options;
  }

  /** Returns true for a question, which is put to a person and not passed on. */
  take(part: AgentPart): boolean {
    const { ask } = this.#options.call;
    const found = part.part === 'frame' ? agentQuestionIn(part.frame) : undefined;
    if (found === undefined || ask === undefined) return false;
    // If the request ends first, no answer is sent.
    this.#ask(found, ask).catch(() => {});
    return true;
  }

  async #ask({ question, reply }: AgentQuestion, ask: NonNullable<Call['ask']>): Promise<void> {
    const { envelope, requestId, clock, ids, idle, send } = this.#options;
    const answer = ask(question);
    const { method, params } = reply(await (idle === undefined ? answer : idle.suspend(answer)));
    const { session_id, channel, user_id } = envelope;
    await send(
      newEnvelope({
        request_id: ids.uuid(),
        timestamp: clock.now().toISOString(),
        method,
        params: { ...params, request_id: requestId, session_id },
        session_id,
        channel,
        user_id,
      }),
    );
  }
}
