import type { JsonObject } from '@dragoman/protocols';
import { ApiAdmin } from './api-admin.ts';
import type { Http } from './http.ts';
import { KnowledgeAdmin } from './knowledge-admin.ts';
import { OutboxAdmin } from './outbox-admin.ts';
import { QuestionAdmin } from './question-admin.ts';
import { RequestAdmin } from './request-admin.ts';
import { WorkflowAdmin } from './workflow-admin.ts';

/** An agent as administration knows it: a caller, a target (`driver`), or both. */
export interface AgentDefinition {
  readonly agent_id: string;
  /** What it may use, by name. `"*"` means all; an empty or absent list means nothing. */
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
  /** The folder an `acp` program works in. */
  readonly cwd?: string;
  readonly workspaces?: string[];
  readonly auth_method?: string;
  readonly tool_permissions?: { [kind: string]: 'allow' | 'ask' | 'deny' };
  /** `openai`: the base URL of the model server, such as `http://127.0.0.1:11434/v1`. */
  readonly base_url?: string;
  /** `openai`: the model to ask. */
  readonly model?: string;
  /** `openai`: the API key, or a reference to it. */
  readonly key?: string;
  /** `openai`: what the model reads before every conversation. */
  readonly instructions?: string;
  /** `openai`: the tools that the model may call; `*` stands for any text. */
  readonly tools?: string[];
  /** `openai`: how often the model is asked for one answer. */
  readonly max_turns?: number;
  /** `openai`: further members of every request to the model. */
  readonly parameters?: JsonObject;
  /** `http`, `e2a-ws`, `a2a`, `openai`: headers of every request. A secret is a reference, or the name of a credential. */
  readonly headers?: { [name: string]: string | { credential: string } };
  readonly name?: string;
  readonly description?: string;
  readonly skills?: string[];
  readonly agentId?: string;
  readonly max_parallel?: number;
  /** It may be asked the same thing twice. */
  readonly idempotent?: boolean;
  readonly timeout_ms?: number;
}

export interface AgentPermissions {
  readonly operations?: string[];
  readonly apis?: string[];
  readonly credentials?: string[];
  readonly agents?: string[];
  readonly tools?: string[];
  /** Stored workflows. */
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

/** `api_key` is shown this once. */
export interface NewKey extends Key {
  readonly api_key: string;
}

/** What the callbacks of an agent are signed with, for `CallbackReceiver`; shown this once. */
export interface NewSecret {
  readonly webhook_secret: string;
}

export type KeyRequest = ({ readonly agent_id: string; readonly role?: 'agent' } | { readonly role: 'admin' }) & {
  readonly description?: string;
  /** Default: until it is revoked. */
  readonly expires_in_seconds?: number;
};

/** A secret for the vault. */
export interface CredentialDefinition {
  /** `bearer-token` stands in a header as `Bearer VALUE`; the others as they are. */
  readonly type: 'bearer-token' | 'api-key' | 'password' | 'username';
  /** Never given back. */
  readonly value: string;
  /** Where it may be sent: `host` (port 443) or `host:port`. Needed unless its only place is `env`. */
  readonly hosts?: readonly string[];
  /** Where in a request it may stand; `env`: in the environment of a program of the configuration. Default: `header`. */
  readonly places?: readonly ('header' | 'query' | 'body' | 'env')[];
  readonly description?: string;
}

/** A credential without its secret. */
export interface Credential {
  readonly id: string;
  readonly type: CredentialDefinition['type'];
  readonly hosts: readonly string[];
  readonly places: readonly ('header' | 'query' | 'body' | 'env')[];
  readonly description: string | null;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** It was changed outside of the vault, and is not used any more. */
  readonly damaged?: true;
}

/** The card of a foreign A2A agent, as far as it matters before the agent is added. */
export interface CardPreview {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** Those that can be used, best first. */
  readonly interfaces: readonly { readonly url: string; readonly binding: string; readonly version: string }[];
  readonly unusable_interfaces: readonly string[];
  readonly streaming: boolean;
  readonly skills: readonly { readonly id: string; readonly name: string; readonly description: string }[];
  /** How callers prove who they are; empty: anybody may call. */
  readonly auth: readonly { readonly name: string; readonly kind: string }[];
}

export interface AgentList {
  readonly agents: readonly AgentDefinition[];
  /** The ids of agents that can be sent to, those of the config too. */
  readonly targets: readonly string[];
  /** Those among them that registered themselves, or that a caller registered: nobody has checked what they say of themselves. */
  readonly registered: readonly { readonly agent_id: string; readonly name: string; readonly registered_by: string }[];
}

/** What was taken out of the record in the name of an agent, counted, and how much was left because it is under way. */
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

/** Every tool, and the names of those that have changed and are held until they are accepted. */
export interface ToolList {
  readonly tools: readonly { readonly name: string; readonly description: string; readonly toolkit: string | null }[];
  readonly held: readonly string[];
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

export interface Overview {
  readonly version: string;
  readonly started_at: string;
  readonly now: OverviewReading;
  readonly every_ms: number;
  /** Oldest first, of the last hour. */
  readonly history: readonly OverviewReading[];
  /** How requests ended: `succeeded`, an error code, or `failed`. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly rate_limited: number;
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

/** Administration, with an admin key. Each call is tried once: making a key twice would make two. */
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
  }

  /** How the whole server stands, and stood every ten seconds of the last hour. */
  overview({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Overview> {
    return this.#http.json({ path: 'admin/v1/overview', signal, gives: { now: 'object', history: 'array' } });
  }

  /** Has every answer of an API that is kept for anybody forgotten. Gives how many there were. */
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
    return this.#http.json({ path: AGENTS, gives: { agents: 'array', targets: 'array', registered: 'array' } });
  }

  /** Makes or replaces an agent. A new one comes back with `api_key` and `webhook_secret`, shown this once. */
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

  /** What the card of a foreign A2A agent says, before it is added with the same definition. */
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
  heldCards(): Promise<{ readonly held: readonly string[] }> {
    return this.#http.json({ path: CARDS, gives: { held: 'array' } });
  }

  /** Accepts the card of a foreign agent that has changed. */
  acceptCard(agentId: string): Promise<{ agent_id: string; accepted: true }> {
    const path = `${AGENTS}/${encodeURIComponent(agentId)}/accept`;
    return this.#http.json({ method: 'POST', path, gives: { agent_id: 'string', accepted: 'boolean' } });
  }

  /** Its keys end with it. */
  remove(agentId: string): Promise<{ agent_id: string; removed: true }> {
    return this.#http.json({ method: 'DELETE', path: `${AGENTS}/${encodeURIComponent(agentId)}`, gives: REMOVED });
  }

  /** Takes what is recorded in its name off the record for good; the agent and its keys stay. */
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

  /** Ends the key at once, also on open streams. */
  revoke(keyId: string): Promise<{ key_id: string; revoked: true }> {
    return this.#http.json({
      method: 'DELETE',
      path: `${KEYS}/${encodeURIComponent(keyId)}`,
      gives: { revoked: 'boolean' },
    });
  }
}

class ToolAdmin {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  list(): Promise<ToolList> {
    return this.#http.json({ path: TOOLS, gives: { tools: 'array', held: 'array' } });
  }

  /** Takes a tool that has changed for what it is now. */
  accept(name: string): Promise<{ name: string; accepted: true }> {
    return this.#http.json({
      method: 'POST',
      path: `${TOOLS}/${encodeURIComponent(name)}/accept`,
      gives: { accepted: 'boolean' },
    });
  }
}

class CredentialAdmin {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  async list(): Promise<readonly Credential[]> {
    return (
      await this.#http.json<{ credentials: readonly Credential[] }>({
        path: CREDENTIALS,
        gives: { credentials: 'array' },
      })
    ).credentials;
  }

  /** Makes or replaces it. */
  put(id: string, definition: CredentialDefinition): Promise<Credential> {
    const path = `${CREDENTIALS}/${encodeURIComponent(id)}`;
    return this.#http.json({
      method: 'PUT',
      path,
      body: JSON.stringify(definition),
      gives: { id: 'string', version: 'number', hosts: 'array' },
    });
  }

  remove(id: string): Promise<{ id: string; removed: true }> {
    return this.#http.json({ method: 'DELETE', path: `${CREDENTIALS}/${encodeURIComponent(id)}`, gives: REMOVED });
  }

  /** Seals all of them again: with the key, or one the server makes where its key is in a file. */
  rotate(key?: string): Promise<{ rotated: true }> {
    const body = JSON.stringify(key === undefined ? {} : { key });
    return this.#http.json({ method: 'POST', path: 'admin/v1/vault/rotate', body, gives: { rotated: 'boolean' } });
  }
}

const REMOVED = { removed: 'boolean' } as const;
const TOOLS = 'admin/v1/tools';
const AGENTS = 'admin/v1/agents';
const CARDS = 'admin/v1/agent-cards';
const KEYS = 'admin/v1/keys';
const CREDENTIALS = 'admin/v1/credentials';
