import { answerFromAcpResponse, type JsonObject } from '@dragoman/protocols';
import { type AnswerFold, canElicit, elicitation, MCP_MODERN_VERSION, type TaskParams } from '@dragoman/protocols/mcp';
import type { Principal } from '../../call/principal.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Clock } from '../../ports/ports.ts';
import { failureOf, refuse } from '../../refusals/refused.ts';
import { frameFrom } from '../../runs/frame-text.ts';
import type { KnownRequest } from '../../runs/known-request.ts';
import type { McpCall } from './mcp-call.ts';
import { foldOf } from './request-fold.ts';
import { taskMembers } from './task-result.ts';

export interface McpTasksOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly keepMs: number;
}

/** The tasks extension: a task is a request of the hub, so it survives a restart and can be read by every protocol. */
export class McpTasks {
  readonly #options: McpTasksOptions;

  constructor(options: McpTasksOptions) {
    this.#options = options;
  }

  async get(taskId: string, { principal, capabilities }: McpCall): Promise<JsonObject> {
    const { clock, keepMs } = this.#options;
    const known = await this.#find(taskId, principal);
    const fold = foldOf(taskId, known.envelope);
    const final = await apply(known, fold);
    const key = { owner: principal.id, requestId: taskId };
    const members = taskMembers(key, fold, { now: clock.now(), keepMs, acceptedAt: known.acceptedAt });
    const { question } = fold;
    if (final === undefined && question !== undefined) {
      const inputRequests = canElicit(capabilities, question)
        ? { [question.question_id]: elicitation(question, MCP_MODERN_VERSION) }
        : {};
      return { ...members, status: 'input_required', inputRequests };
    }
    if (final === undefined) return { ...members, status: 'working' };
    if (final === 'E2A.CANCELLED') return { ...members, status: 'cancelled' };
    return { ...members, status: 'completed', result: { resultType: 'complete', ...fold.result() } };
  }

  /** Answers questions of a task, by their ids; ids without an open question are ignored. */
  async update({ taskId, inputResponses = {} }: TaskParams, { principal }: McpCall): Promise<JsonObject> {
    await this.#find(taskId, principal);
    const { questions } = this.#options.engine;
    for (const [questionId, response] of Object.entries(inputResponses)) {
      const given = answerFromAcpResponse(response);
      try {
        await questions.answer({ questionId, requestId: taskId }, given, { principal, channel: 'mcp' });
      } catch (error) {
        if (failureOf(error)?.code !== 'not_found') throw error;
      }
    }
    return {};
  }

  async cancel(taskId: string, { principal }: McpCall): Promise<JsonObject> {
    await (await this.#find(taskId, principal)).cancel();
    return {};
  }

  async #find(requestId: string, { id: owner }: Principal): Promise<KnownRequest> {
    const known = await this.#options.engine.runs.find({ owner, requestId });
    return known ?? refuse('invalid_message', {}, `There is no task ${JSON.stringify(requestId.slice(0, 128))}.`);
  }
}

/**
 * Applies the frames. Returns the error code of the final frame: empty if it is not an error, `undefined` before it.
 */
async function apply(known: KnownRequest, fold: AnswerFold): Promise<string | undefined> {
  for (let after = -1; ; ) {
    const rows = await known.page({ after, limit: 1000, maxBytes: 1 << 20 });
    for (const { text, isFinal } of rows) {
      const frame = frameFrom(text);
      fold.apply(frame);
      if (isFinal) return String(frame.body['code'] ?? '');
    }
    const last = rows.at(-1);
    if (last === undefined) return undefined;
    after = last.sequence;
  }
}
