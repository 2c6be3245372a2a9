import { type E2AResponse, encodeResponse, newResponse, SERVER_PUSH_KEY } from '@dragoman/protocols';
import { allows, type Principal } from '../call/principal.ts';
import type { Clock, Ids, Log } from '../ports/ports.ts';
import type { SessionStore } from '../store/store.ts';

/** A frame that an agent sends on its own: it answers no request. */
export interface AgentPush {
  readonly agentId: string;
  /** The request that the frame names, and its sender; `undefined` when the frame names no running request. */
  readonly request: { readonly owner: string; readonly requestId: string | null } | undefined;
  readonly frame: E2AResponse;
}

/**
 * Delivers pushes of agents to the sender of the request that they name, else to the owner of the session that they name. A push
 * without exactly one such caller is dropped. Pushes are not recorded: callers that do not listen miss them.
 */
export class Pushes {
  readonly #options: PushesOptions;
  readonly #listeners = new Map<string, Set<Listener>>();
  #elsewhere: PushesElsewhere | undefined;

  constructor(options: PushesOptions) {
    this.#options = options;
  }

  /** Also delivers to callers that listen at other nodes. */
  join(elsewhere: PushesElsewhere): void {
    this.#elsewhere = elsewhere;
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  /** Calls `send` with each push for this caller, as JSON text, until the returned function is called. */
  subscribe(principal: Principal, send: (text: string) => void): () => void {
    const listener = { principal, send };
    const listeners = this.#listeners.get(principal.id) ?? new Set();
    this.#listeners.set(principal.id, listeners.add(listener));
    if (this.#listeners.size === 1) this.#elsewhere?.listening();
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(principal.id);
    };
  }

  async deliver(push: AgentPush): Promise<void> {
    // Without listeners, the store is not asked for the owner.
    if (!this.hasListeners && this.#elsewhere?.hasListeners !== true) return;
    const owner = push.request?.owner ?? (await this.#ownerOf(push));
    if (owner === undefined) return;
    const text = JSON.stringify(encodeResponse(this.#frameFor(push)));
    const addressed = { owner, agentId: push.agentId, text };
    this.deliverHere(addressed);
    this.#elsewhere?.deliver(addressed);
  }

  /** Delivers a push to the listeners at this node. */
  deliverHere({ owner, agentId, text }: AddressedPush): void {
    for (const { principal, send } of this.#listeners.get(owner) ?? [])
      if (allows(principal.permissions.agents, agentId)) send(text);
  }

  /** Callers choose their session ids. An id that two callers use has no single owner. */
  async #ownerOf({ agentId, frame: { session_id: sessionId } }: AgentPush): Promise<string | undefined> {
    if (sessionId === null) return undefined;
    const owners = await this.#options.sessions.owners({ agentId, sessionId });
    if (owners.length < 2) return owners[0];
    this.#options.log.debug({ agent: agentId }, 'a push names a session of several callers; it is not delivered');
    return undefined;
  }

  /** The agent's content with this server's ids and time, and the sequence that all pushes have. */
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

/** A push as the listeners of its owner receive it. */
export interface AddressedPush {
  readonly owner: string;
  readonly agentId: string;
  readonly text: string;
}

/** The listeners at other nodes. Absent where one process owns the store. */
export interface PushesElsewhere {
  readonly hasListeners: boolean;
  /** Called when this node gets its first listener. */
  listening(): void;
  deliver(push: AddressedPush): void;
}

interface PushesOptions {
  readonly sessions: SessionStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

interface Listener {
  readonly principal: Principal;
  readonly send: (text: string) => void;
}
