import type { JsonObject } from '@dragoman/protocols';
import type { RateLimitStatus } from '@dragoman/protocols/a2e-workflow';
import { ApiAdmin } from './api-admin.ts';
import { CredentialAdmin } from './credential-admin.ts';
import type { Http } from './http.ts';
import { KnowledgeAdmin } from './knowledge-admin.ts';
import { NodeAdmin } from './node-admin.ts';
import { OutboxAdmin } from './outbox-admin.ts';
import { QuestionAdmin } from './question-admin.ts';
import { RequestAdmin } from './request-admin.ts';
import { queryOf } from './request-page.ts';
import { type HeldChange, ToolAdmin } from './tool-admin.ts';
import { WorkflowAdmin } from './workflow-admin.ts';

/** An agent as administration knows it: a caller, a target (`driver`), or both. */
export interface AgentDefinition {
  readonly agent_id: string;
  /** What the agent may use, by name. `"*"` means all; an empty or absent list means nothing. */
  readonly permissions: AgentPermissions;
  readonly limits?: Limits;
  /** SPKI PEM. */
  readonly public_key?: string;
  readonly driver?: 'module' | 'http' | 'e2a-ws' | 'stdio' | 'a2a' | 'acp' | 'openai';
  readonly module?: string;
  readonly url?: string;
  /** `a2a`: the URL of the agent card. */
  readonly card?: string;
  /** `a2a`: the version to speak. */
  readonly version?: '1.0' | '0.3';
  /** `a2a`: the credential that proves who the server is. */
  readonly credential?: string;
  readonly command?: string;
  readonly args?: string[];
  readonly env?: { [name: string]: string };
  /** `acp`: the folder that the program works in. */
  readonly cwd?: string;
  readonly workspaces?: string[];
  readonly client_fs?: 'off' | 'local' | 'caller';
  readonly client_terminal?: 'off' | 'local' | 'caller';
  readonly auth_method?: string;
  readonly start_timeout_ms?: number;
  readonly tool_permissions?: { [kind: string]: 'allow' | 'ask' | 'deny' };
  /** `openai`: the base URL of the model server, such as `http://127.0.0.1:11434/v1`. */
  readonly base_url?: string;
  /** `openai`: the model to ask. */
  readonly model?: string;
  /** `openai`: the API key, or a reference to it. */
  readonly key?: string;
  /** `openai`: the system prompt. */
  readonly instructions?: string;
  /** `openai`: the tools that the model may call; `*` stands for any text. */
  readonly tools?: string[];
  /** `openai`: the most requests to the model for one answer. */
  readonly max_turns?: number;
  /** `openai`: further members of every request to the model. */
  readonly parameters?: JsonObject;
  /**
   * `http`, `e2a-ws`, `a2a`, `openai`: headers of every request. A secret is a reference, or the name of a credential.
   */
  readonly headers?: { [name: string]: string | { credential: string } };
  readonly name?: string;
  readonly description?: string;
  readonly skills?: string[];
  readonly agentId?: string;
  readonly max_parallel?: number;
  /** Whether the same request may be sent to the agent twice. */
  readonly idempotent?: boolean;
  readonly timeout_ms?: number;
}

export interface AgentPermissions {
  readonly operations?: string[];
  readonly apis?: string[];
  readonly credentials?: string[];
  readonly agents?: string[];
  readonly tools?: string[];
  /** The names of stored workflows. */
  readonly workflows?: string[];
}

export interface Limits {
  readonly requests_per_minute?: number;
  readonly requests_per_hour?: number;
  readonly requests_per_day?: number;
  readonly api_calls_per_minute?: number;
  readonly api_calls_per_hour?: number;
}

/** A key without its secret. */
export interface Key {
  readonly key_id: string;
  readonly agent_id: string;
  readonly role: 'agent' | 'admin';
  readonly description: string | null;
  readonly created_at: string;
  /** Null: it does not expire. */
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
}

/** `api_key` is shown only once. */
export interface NewKey extends Key {
  readonly api_key: string;
}

/** The secret that signs the callbacks of an agent, for `CallbackReceiver`; shown only once. */
export interface NewSecret {
  readonly webhook_secret: string;
}

export type KeyRequest = ({ readonly agent_id: string; readonly role?: 'agent' } | { readonly role: 'admin' }) & {
  readonly description?: string;
  /** Default: the key does not expire. */
  readonly expires_in_seconds?: number;
};

/** A preview of the card of a foreign A2A agent, before the agent is added. */
export interface CardPreview {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** The interfaces that the server can use, the best first. */
  readonly interfaces: readonly { readonly url: string; readonly binding: string; readonly version: string }[];
  readonly unusable_interfaces: readonly string[];
  readonly streaming: boolean;
  readonly skills: readonly { readonly id: string; readonly name: string; readonly description: string }[];
  /** How callers authenticate; empty: without authentication. */
  readonly auth: readonly { readonly name: string; readonly kind: string }[];
}

/** The foreign agents whose changed cards wait to be accepted, and the changes. */
export interface HeldCards {
  readonly held: readonly string[];
  readonly changes: readonly (HeldChange & { readonly agent_id: string })[];
}

export interface AgentList {
  readonly agents: readonly AgentDefinition[];
  /** The ids of all agents that requests can be sent to, including those of the configuration. */
  readonly targets: readonly string[];
  /** The targets that registered themselves, or that a caller registered. Their own descriptions are not checked. */
  readonly registered: readonly { readonly agent_id: string; readonly name: string; readonly registered_by: string }[];
  /** The figures of each target. */
  readonly figures: readonly AgentFigures[];
  /** Null on the last page, and if the whole list was requested. */
  readonly next_cursor: string | null;
}

/** Which page of a list. */
export interface ListQuery {
  /** At most 200. */
  readonly limit: number;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
  /** Only entries whose names contain this text. */
  readonly text?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface KeyPage {
  readonly keys: readonly Key[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
}

/** How many records of an agent were deleted, and how many running ones were not. */
export interface Forgotten {
  readonly agent_id: string;
  readonly forgotten: {
    readonly requests: number;
    readonly sessions: number;
    readonly executions: number;
    readonly callbacks: number;
    readonly memories: number;
    readonly stored_keys: number;
    readonly thread_messages: number;
  };
  readonly under_way: number;
}

/** The counters of a server at one time. All but `running` and `waiting` only grow, from its start on. */
export interface OverviewReading {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly accepted: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly frames: number;
  readonly commits: number;
  readonly running: number;
  readonly waiting: number;
}

/** The requests to an agent, since the start of the server and now. */
export interface AgentFigures {
  readonly agent: string;
  readonly accepted: number;
  readonly failed: number;
  readonly running: number;
  readonly waiting: number;
  /**
   * `away`: the agent connects to the server by itself, and is not connected. `failing`: its last three requests or
   * more got no answer. `none`: the agent only calls, and answers no requests.
   */
  readonly health: 'ok' | 'away' | 'failing' | 'none';
}

/** An outbound request through the gate, including one that the gate refused. */
export interface OutboundEntry {
  readonly at: string;
  readonly caller: string;
  readonly method: string;
  readonly host: string;
  /** `refused`: the gate blocked it. */
  readonly outcome: 'answered' | 'failed' | 'refused';
  readonly status: number | null;
  readonly reason: string | null;
  readonly duration_ms: number;
}

/** Wrong API keys since the start of the server. */
export interface FailedLoginReport {
  readonly total: number;
  /** The last addresses that sent a wrong key, the latest first. */
  readonly recent: readonly {
    readonly address: string;
    readonly count: number;
    readonly first_at: string;
    readonly last_at: string;
  }[];
}

export interface Overview {
  readonly version: string;
  readonly started_at: string;
  readonly now: OverviewReading;
  readonly every_ms: number;
  /** The last hour, oldest first. */
  readonly history: readonly OverviewReading[];
  /** How requests ended: `succeeded`, an error code, or `failed`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Accepted requests by protocol. */
  readonly by_protocol: Readonly<Record<string, number>>;
  /** The agents with the most requests, in that order. */
  readonly by_agent: readonly AgentFigures[];
  /** At most a hundred agents that do not answer. */
  readonly agents_down: readonly Pick<AgentFigures, 'agent' | 'health'>[];
  readonly rate_limited: number;
  readonly failed_logins: number;
  readonly edge: { readonly connections: number; readonly streams: number; readonly sockets: number };
  readonly routes: readonly {
    readonly method: string;
    readonly route: string;
    readonly count: number;
    readonly errors: number;
    readonly p50_ms: number | null;
    readonly p95_ms: number | null;
  }[];
}

/** Administration, with an admin key. Calls are not retried: creating a key twice would create two. */
export class Admin {
  readonly agents: AgentAdmin;
  readonly keys: KeyAdmin;
  readonly credentials: CredentialAdmin;
  readonly apis: ApiAdmin;
  readonly workflows: WorkflowAdmin;
  readonly knowledge: KnowledgeAdmin;
  readonly tools: ToolAdmin;
  readonly requests: RequestAdmin;
  readonly outbox: OutboxAdmin;
  readonly questions: QuestionAdmin;
  readonly nodes: NodeAdmin;
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
    this.agents = new AgentAdmin(http);
    this.keys = new KeyAdmin(http);
    this.credentials = new CredentialAdmin(http);
    this.apis = new ApiAdmin(http);
    this.workflows = new WorkflowAdmin(http);
    this.knowledge = new KnowledgeAdmin(http);
    this.tools = new ToolAdmin(http);
    this.requests = new RequestAdmin(http);
    this.outbox = new OutboxAdmin(http);
    this.questions = new QuestionAdmin(http);
    this.nodes = new NodeAdmin(http);
  }

  /** The state of the whole server, now and every ten seconds of the last hour. */
  overview({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Overview> {
    return this.#http.json({ path: 'admin/v1/overview', signal, gives: { now: 'object', history: 'array' } });
  }

  /** The last 500 outbound requests, the latest first. */
  async egress({
    outcome,
  }: {
    readonly outcome?: OutboundEntry['outcome'] | undefined;
  } = {}): Promise<readonly OutboundEntry[]> {
    const path = `admin/v1/egress${outcome === undefined ? '' : `?outcome=${outcome}`}`;
    return (await this.#http.json<{ entries: readonly OutboundEntry[] }>({ path, gives: { entries: 'array' } }))
      .entries;
  }

  /** Wrong API keys, by the address that sent them. */
  failedLogins({ signal }: { readonly signal?: AbortSignal } = {}): Promise<FailedLoginReport> {
    return this.#http.json({ path: 'admin/v1/failed-logins', signal, gives: { total: 'number', recent: 'array' } });
  }

  /** Clears the cached API answers of all callers. Returns their number. */
  async invalidate(): Promise<number> {
    const request = { method: 'DELETE', path: 'admin/v1/cache', gives: { cleared: 'number' } } as const;
    return (await this.#http.json<{ cleared: number }>(request)).cleared;
  }
}

class AgentAdmin {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  list(): Promise<AgentList> {
    return this.#http.json({ path: AGENTS, gives: AGENT_LIST });
  }

  /** A page of the agents, in the order of their ids. */
  page({ signal, ...query }: ListQuery): Promise<AgentList> {
    return this.#http.json({ path: `${AGENTS}?${queryOf(query)}`, signal, gives: AGENT_LIST });
  }

  /** Creates or replaces an agent. A new one is returned with `api_key` and `webhook_secret`, shown only once. */
  put(definition: AgentDefinition): Promise<AgentDefinition & Partial<NewKey & NewSecret>> {
    return this.#http.json({
      method: 'POST',
      path: AGENTS,
      body: JSON.stringify(definition),
      gives: { agent_id: 'string' },
    });
  }

  get(agentId: string): Promise<AgentDefinition> {
    return this.#http.json({ path: `${AGENTS}/${encodeURIComponent(agentId)}`, gives: { agent_id: 'string' } });
  }

  /** How much of each rate limit of an agent is used, and how much is left. */
  limits(agentId: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<RateLimitStatus> {
    const path = `${AGENTS}/${encodeURIComponent(agentId)}/limits`;
    return this.#http.json({ path, signal, gives: { limits: 'object', usage: 'object', remaining: 'object' } });
  }

  /** Previews the card of a foreign A2A agent, before it is added with the same definition. */
  preview(definition: AgentDefinition): Promise<CardPreview> {
    const body = JSON.stringify(definition);
    return this.#http.json({
      method: 'POST',
      path: `${CARDS}/preview`,
      body,
      gives: { name: 'string', interfaces: 'array' },
    });
  }

  /** Foreign agents whose card has changed and is held until it is accepted. */
  heldCards(): Promise<HeldCards> {
    return this.#http.json({ path: CARDS, gives: { held: 'array', changes: 'array' } });
  }

  /** Accepts the card of a foreign agent that has changed. */
  acceptCard(agentId: string): Promise<{ agent_id: string; accepted: true }> {
    const path = `${AGENTS}/${encodeURIComponent(agentId)}/accept`;
    return this.#http.json({ method: 'POST', path, gives: { agent_id: 'string', accepted: 'boolean' } });
  }

  /** Removes an agent and revokes its keys. */
  remove(agentId: string): Promise<{ agent_id: string; removed: true }> {
    return this.#http.json({ method: 'DELETE', path: `${AGENTS}/${encodeURIComponent(agentId)}`, gives: REMOVED });
  }

  /** Deletes all records of an agent; the agent and its keys stay. */
  forget(agentId: string): Promise<Forgotten> {
    return this.#http.json({
      method: 'DELETE',
      path: `${AGENTS}/${encodeURIComponent(agentId)}/data`,
      gives: { forgotten: 'object', under_way: 'number' },
    });
  }
}

class KeyAdmin {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  create(request: KeyRequest): Promise<NewKey> {
    return this.#http.json({
      method: 'POST',
      path: KEYS,
      body: JSON.stringify(request),
      gives: { key_id: 'string', api_key: 'string' },
    });
  }

  async list(): Promise<readonly Key[]> {
    return (await this.#http.json<{ keys: readonly Key[] }>({ path: KEYS, gives: { keys: 'array' } })).keys;
  }

  /** A page of the keys, the newest first. */
  page({ signal, ...query }: ListQuery): Promise<KeyPage> {
    return this.#http.json({ path: `${KEYS}?${queryOf(query)}`, signal, gives: { keys: 'array' } });
  }

  /** Revokes the key at once, including on open streams. */
  revoke(keyId: string): Promise<{ key_id: string; revoked: true }> {
    return this.#http.json({
      method: 'DELETE',
      path: `${KEYS}/${encodeURIComponent(keyId)}`,
      gives: { revoked: 'boolean' },
    });
  }
}

const REMOVED = { removed: 'boolean' } as const;
const AGENT_LIST = { agents: 'array', targets: 'array', registered: 'array' } as const;
const AGENTS = 'admin/v1/agents';
const CARDS = 'admin/v1/agent-cards';
const KEYS = 'admin/v1/keys';
