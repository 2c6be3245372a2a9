import { isFailed, type Json, newEnvelope } from '@dragoman/protocols';
import type { Call } from '../../call/call.ts';
import type { Principal } from '../../call/principal.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Ids, Log } from '../../ports/ports.ts';
import { refuse } from '../../refusals/refused.ts';
import type { RequestRow } from '../../store/store.ts';
import { resultOf } from '../../targets/ask-target.ts';
import type { AcpHub } from './acp-hub.ts';

export interface EngineHubOptions {
  readonly engine: Engine;
  readonly ids: Ids;
  readonly log: Log;
  /** The caller with its current permissions, which may change while the connection is open. */
  readonly principal: () => Principal;
  /** Aborts when the client has left. */
  readonly signal: AbortSignal;
}

/** The hub in this process. */
export function engineHub({ engine, ids, log, principal, signal }: EngineHubOptions): AcpHub {
  const call = (beside: Call['beside']): Call => ({ principal: principal(), signal, log, beside });
  return {
    async request(method, params, agent): Promise<Json> {
      const envelope = newEnvelope({
        request_id: `acp-${ids.uuid()}`,
        method,
        params,
        agent_ref: agent === undefined ? null : { id: agent },
        channel: 'acp',
      });
      for await (const frame of engine.handle(envelope, call({ counted: ANSWERS.has(method) }))) {
        if (frame.is_final) return isFailed(frame) ? resultOf(frame, method) : (frame.body['result'] ?? null);
      }
      return refuse('agent_failed');
    },
    send(envelope, { received, cancelled }) {
      const onAccepted = (row: RequestRow) => {
        const cancel = () => void engine.runs.cancel(row);
        // The client may have cancelled before the request was recorded.
        if (cancelled.aborted) cancel();
        else cancelled.addEventListener('abort', cancel, { once: true });
      };
      const text = JSON.stringify(received);
      return engine.handle(envelope, call({ counted: false, received: { dialect: 'acp', text }, onAccepted }));
    },
    read: (requestId) => engine.runs.read({ owner: principal().id, requestId }, -1, signal),
    cancel: async (requestId) => engine.runs.cancel({ owner: principal().id, requestId }),
  };
}

/** Answers to questions and calls of agents. Only these do not count against the caller's limits. */
const ANSWERS: ReadonlySet<string> = new Set(['acp.tool_response', 'chat.user_answer']);
