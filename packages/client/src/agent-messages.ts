import { canonicalJson, isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { DragomanError, issuesIn, textsIn } from './dragoman-error.ts';
import type { Http } from './http.ts';
import { errorOfResponse } from './problem.ts';
import { randomHex } from './random-hex.ts';
import { checkedAnswer } from './unexpected-answer.ts';

/** The identity of the calling agent. */
export interface AgentIdentity {
  /** The id of the agent that the key belongs to, which is the sender of every message. */
  readonly agentId: string;
  /** Signs bytes with the private key whose public half the server knows. With it no API key is needed. */
  readonly sign?: (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>;
  /**
   * The fingerprint of that key, `sha256:` and 64 hex digits. Without it and without an API key, a server reads at most
   * 64 KiB of a message.
   */
  readonly fingerprint?: string;
}

/** An agent that was discovered. */
export interface FoundAgent {
  readonly agent_id: string;
  readonly name: string;
  readonly capabilities: readonly string[];
  readonly status: 'healthy' | 'unhealthy';
  readonly endpoint: string;
  readonly last_heartbeat?: string;
}

export interface DiscoverQuery {
  /** An agent must have all of these. */
  readonly capabilities?: readonly string[];
  /** Default: `healthy`. */
  readonly status?: 'healthy' | 'unhealthy' | 'all';
  readonly maxResults?: number;
}

export interface RegisteredQuery {
  readonly capability?: string | undefined;
  readonly name?: string | undefined;
  readonly limit?: number | undefined;
}

/** A registered agent. */
export interface Registered {
  readonly agent_card: JsonObject;
  readonly endpoint: string;
  readonly registered_at: string;
  readonly last_heartbeat: string;
  readonly health_status: 'healthy' | 'unhealthy';
  readonly source: 'configured' | 'self_declared';
}

/** A2A messages as one agent: discover other agents, send them requests, register. */
export class AgentMessages {
  readonly #http: Http;
  readonly #identity: AgentIdentity;

  constructor(http: Http, identity: AgentIdentity) {
    this.#http = http;
    this.#identity = identity;
  }

  /** The agents that have all capabilities, and the total number of them, listed or not. */
  async discover(
    { capabilities = [], status, maxResults }: DiscoverQuery = {},
    options: MessageOptions = {},
  ): Promise<{ readonly agents: readonly FoundAgent[]; readonly total: number }> {
    const filters = { ...(status && { status }), ...(maxResults !== undefined && { max_results: maxResults }) };
    const payload = { capabilities: [...capabilities], filters };
    const { agents, total_count } = await this.#say({ type: 'discover_agents', to: 'registry', payload, ...options });
    return { agents: agents as unknown as readonly FoundAgent[], total: Number(total_count) };
  }

  /** Sends a request to an agent. Returns the data of its answer, or throws its `DragomanError`. */
  async request(
    agent: string,
    method: string,
    parameters: JsonObject = {},
    options: MessageOptions = {},
  ): Promise<Json> {
    const { data } = await this.#say({ type: 'request', to: agent, payload: { method, parameters }, ...options });
    return data ?? {};
  }

  /** A page of the registry: the healthy agents, by capability and by a part of the name. */
  async registered({ capability, name, limit = 10 }: RegisteredQuery = {}): Promise<readonly Registered[]> {
    const query = new URLSearchParams({ limit: String(limit) });
    if (capability !== undefined) query.set('capability', capability);
    if (name !== undefined) query.set('name', name);
    return (
      await this.#http.json<{ agents: Registered[] }>({ path: `agents/discover?${query}`, gives: { agents: 'array' } })
    ).agents;
  }

  /** Registers an agent by its card. The agent must then send a `heartbeat` every 30 seconds. */
  register(card: JsonObject, endpoint: string): Promise<{ readonly status: 'registered' | 'updated' }> {
    const body = JSON.stringify({ agent_card: card, endpoint });
    return this.#http.json({ method: 'POST', path: 'agents/register', body, gives: { status: 'string' } });
  }

  heartbeat(agentId: string = this.#identity.agentId): Promise<{ readonly timestamp: string }> {
    return this.#http.json({
      method: 'PUT',
      path: `agents/${encodeURIComponent(agentId)}/heartbeat`,
      gives: { timestamp: 'string' },
    });
  }

  async unregister(agentId: string = this.#identity.agentId): Promise<void> {
    await this.#http.json<{ status: string }>({
      method: 'DELETE',
      path: `agents/${encodeURIComponent(agentId)}`,
      gives: { status: 'string' },
    });
  }

  async #say({ type, to, payload, messageId = newMessageId(), signal }: Saying): Promise<JsonObject> {
    const message = await this.#signed({
      message_id: messageId,
      message_type: type,
      sender_id: this.#identity.agentId,
      recipient_id: to,
      timestamp: new Date().toISOString(),
      payload,
      correlation_id: null,
    });
    const body = JSON.stringify(message);
    const { response, attempt } = await this.#http.open({
      method: 'POST',
      path: 'a2a/messages',
      body,
      signal,
      anyStatus: true,
    });
    try {
      // Answers and errors of the protocol are messages; other refusals are problems, or responses of a proxy.
      if (!/^application\/json\b/i.test(response.headers.get('content-type') ?? ''))
        throw await attempt.wait(errorOfResponse(response, this.#http.url));
      const text = await attempt.wait(response.text());
      const outcome = { url: this.#http.url, path: 'a2a/messages', status: response.status };
      const { payload: answer } = checkedAnswer<{ payload: JsonObject }>(text, { payload: 'object' }, outcome);
      const { error } = answer;
      if (error === undefined) return answer;
      const { code, message: reason, details: given, retry_after } = error as JsonObject;
      const details = isObject(given) ? given : {};
      throw new DragomanError({
        code: String(code),
        message: String(reason),
        status: response.status,
        requestId: messageId,
        issues: issuesIn(details['issues']),
        suggestions: textsIn(details['suggestions']),
        details,
        ...(typeof retry_after === 'number' && { retryAfter: retry_after }),
      });
    } finally {
      attempt.leave();
    }
  }

  /** Adds the signature over the RFC 8785 JSON of everything except the signature itself. */
  async #signed(message: JsonObject): Promise<JsonObject> {
    const { agentId, sign, fingerprint } = this.#identity;
    if (sign === undefined) return message;
    const { payload, ...head } = message;
    const auth = {
      agent_id: agentId,
      timestamp: new Date().toISOString(),
      nonce: randomHex(16),
      ...(fingerprint !== undefined && { public_key_fingerprint: fingerprint }),
    };
    const signature = await sign(new TextEncoder().encode(canonicalJson({ ...message, auth })));
    // `auth` stands before the payload, so that the server sees who signed before it reads a long payload.
    return { ...head, auth: { ...auth, signature: btoa(String.fromCharCode(...signature)) }, payload: payload ?? {} };
  }
}

export interface MessageOptions {
  /** A version 4 UUID; the same one again gets the answer of the first. */
  readonly messageId?: string;
  readonly signal?: AbortSignal;
}

interface Saying extends MessageOptions {
  readonly type: 'request' | 'discover_agents';
  readonly to: string;
  readonly payload: JsonObject;
}

function newMessageId(): string {
  const hex = randomHex(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}
