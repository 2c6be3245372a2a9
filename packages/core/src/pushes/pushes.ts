import { type E2AResponse, encodeResponse, newResponse, SERVER_PUSH_KEY } from '@dragoman/protocols';
import { allows, type Principal } from '../call/principal.ts';
import type { Clock, Ids, Log } from '../ports/ports.ts';
import type { SessionStore } from '../store/store.ts';

/** What an agent says by itself: it answers no request. */
export interface AgentPush {
  readonly agentId: string;
  /** Who sent the request it names, and the id they gave it; `undefined` when it names none that is under way. */
  readonly request: { readonly owner: string; readonly requestId: string | null } | undefined;
  readonly frame: E2AResponse;
}

/**
 * Brings what agents say by themselves to whoever it is for: the sender of the request it names, else the owner of the
 * session it names. Where that is not one caller for certain, nobody gets it. It is not recorded: who is not there to
 * hear it, does not.
 */
export class Pushes {
  readonly #options: PushesOptions;
  readonly #listeners = new Map<string, Set<Listener>>();

  constructor(options: PushesOptions) {
    this.#options = options;
  }

  /** Hears what is for this caller, as JSON text, until the function given back is called. */
  subscribe(principal: Principal, hear: (text: string) => void): () => void {
    const listener = { principal, hear };
    const listeners = this.#listeners.get(principal.id) ?? new Set();
    this.#listeners.set(principal.id, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(principal.id);
    };
  }

  async deliver(push: AgentPush): Promise<void> {
    // Most servers have nobody who listens.
    if (this.#listeners.size === 0) return;
    const owner = push.request?.owner ?? (await this.#ownerOf(push));
    const listeners = owner === undefined ? undefined : this.#listeners.get(owner);
    if (listeners === undefined) return;
    const text = JSON.stringify(encodeResponse(this.#frameFor(push)));
    for (const { principal, hear } of listeners) if (allows(principal.permissions.agents, push.agentId)) hear(text);
  }

  /** Callers choose their session ids, and two may have chosen the same one: then it names neither. */
  async #ownerOf({ agentId, frame: { session_id: sessionId } }: AgentPush): Promise<string | undefined> {
    if (sessionId === null) return undefined;
    const owners = await this.#options.sessions.owners({ agentId, sessionId });
    if (owners.length < 2) return owners[0];
    this.#options.log.debug({ agent: agentId }, 'a push names a session of several callers; it is not delivered');
    return undefined;
  }

  /** The agent's words; our ids and time, and the number all pushes have. */
  #frameFor({ agentId, request, frame }: AgentPush): E2AResponse {
    const { clock, ids } = this.#options;
    return newResponse({
      response_id: ids.uuid(),
      request_id: request === undefined ? frame.request_id : request.requestId,
      sequence: 0,
      timestamp: clock.now().toISOString(),
      response_kind: frame.response_kind,
      is_final: frame.is_final,
      status: frame.status,
      body: frame.body,
      session_id: frame.session_id,
      channel: frame.channel,
      identity_origin: 'agent',
      source_agent_id: agentId,
      metadata: { ...frame.metadata, [SERVER_PUSH_KEY]: true },
    });
  }
}

interface PushesOptions {
  readonly sessions: SessionStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

interface Listener {
  readonly principal: Principal;
  readonly hear: (text: string) => void;
}
