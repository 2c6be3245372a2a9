import { type E2AEnvelope, isObject, parseJson } from '@dragoman/protocols';
import type { Call } from '../../call/call.ts';
import type { SessionStore } from '../../store/store.ts';

/** The remote agent's ids of a conversation, and of its task that waits for input. */
export interface RemoteConversation {
  readonly contextId?: string | undefined;
  readonly taskId?: string | undefined;
}

/**
 * Maps sessions of this server to conversations of a remote agent, by caller, agent and session. Session ids are never sent to the
 * agent, and no caller continues the conversation of another.
 */
export class RemoteSessions {
  readonly #agentId: string;
  readonly #store: Pick<SessionStore, 'remote' | 'setRemote'> | undefined;

  /** Without a store, every message starts a conversation. */
  constructor(agentId: string, store?: Pick<SessionStore, 'remote' | 'setRemote'>) {
    this.#agentId = agentId;
    this.#store = store;
  }

  async find({ session_id: sessionId }: E2AEnvelope, { principal }: Call): Promise<RemoteConversation> {
    if (sessionId === null || principal.kind === 'anonymous') return {};
    const text = await this.#store?.remote({ owner: principal.id, agentId: this.#agentId, sessionId });
    const known = parseJson(text ?? '{}');
    if (!known.ok || !isObject(known.value)) return {};
    const { context_id: contextId, task_id: taskId } = known.value;
    return {
      ...(typeof contextId === 'string' && { contextId }),
      ...(typeof taskId === 'string' && { taskId }),
    };
  }

  async put(
    { session_id: sessionId }: E2AEnvelope,
    { principal }: Call,
    { contextId, taskId }: RemoteConversation,
  ): Promise<void> {
    if (sessionId === null || principal.kind === 'anonymous') return;
    const remote = JSON.stringify({ context_id: contextId, task_id: taskId });
    await this.#store?.setRemote({ owner: principal.id, agentId: this.#agentId, sessionId }, remote);
  }
}
