import { type E2AEnvelope, isObject, parseJson } from '@dragoman/protocols';
import type { Call } from '../../call/call.ts';
import type { SessionStore } from '../../store/store.ts';

/** What a foreign agent calls a conversation, and its task that waits for input. */
export interface RemoteConversation {
  readonly contextId?: string | undefined;
  readonly taskId?: string | undefined;
}

/**
 * Which conversation of a foreign agent belongs to which session of ours: by caller, agent and session. Our own ids never leave, and
 * no caller continues the conversation of another.
 */
export class RemoteSessions {
  readonly #agentId: string;
  readonly #store: Pick<SessionStore, 'remote' | 'setRemote'> | undefined;

  /** Without a store every message begins a conversation. */
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
