import {
  AgentBody,
  type AgentRegistry,
  decodeAgentDefinition,
  decodeNewKeyRequest,
  type Engine,
  FROM_ENVIRONMENT,
  type IssuedKey,
  type KeyRow,
  NewKeyRequest,
  type RegisteredAgent,
  unreadable,
} from '@dragoman/core';
import { type Failure, failure, type JsonObject } from '@dragoman/protocols';
import { isFailure } from '../http/problem.ts';
import type { Answer, InboundRequest, Route } from '../http/route.ts';
import { agentFigures } from './agent-figures.ts';
import { LIST_PARAMETERS, listQueryIn, pageOf } from './list-page.ts';

export interface AdminContext {
  readonly engine: Engine;
  readonly openAgent: (definition: AgentBody) => Promise<Opened | Failure>;
  /** Runs a change while no other node changes this agent, after the changes of other nodes were taken over. */
  readonly inTurn: <Result>(agentId: string, change: () => Promise<Result>) => Promise<Result>;
  /** The agents of the configuration. The administration can replace such an agent, but not remove it. */
  readonly configured: { has(agentId: string): boolean; putBack(agentId: string): Promise<void> };
  /** The secrets that sign an agent's callbacks, beside our own key. */
  readonly callbackSecrets: CallbackSecrets;
  /** The agents that registered themselves. */
  readonly registrations: Pick<AgentRegistry, 'forget' | 'registered'>;
}

/** An agent that was opened, but does not answer yet. */
export interface Opened {
  /** Lets it answer, in place of the agent that had its id. */
  place(): void;
  close(): PromiseLike<void>;
}

interface CallbackSecrets {
  shownSecretOf(agentId: string): Promise<string>;
  forget(agentId: string): Promise<void>;
}

/** Administration of agents and keys. Every change is on disk before it is acknowledged. */
export function adminAgentRoutes(context: AdminContext): Route[] {
  const { engine } = context;
  const changes = new Changes();
  return [
    {
      method: 'POST',
      path: '/admin/v1/agents',
      access: 'admin',
      counts: false,
      summary: 'Create or replace an agent. A new one gets an API key, shown only once.',
      body: { contentTypes: ['application/json'], maxBytes: 64 * 1024, schema: AgentBody },
      handle: (request) => putAgent(request, context, changes),
    },
    {
      method: 'GET',
      path: '/admin/v1/agents',
      access: 'admin',
      counts: false,
      summary: 'List agents, whether they can be reached, their requests and their health, in the order of their ids.',
      parameters: LIST_PARAMETERS,
      handle: (request) => listAgents(request, context),
    },
    {
      method: 'GET',
      path: '/admin/v1/agents/:agent_id',
      access: 'admin',
      counts: false,
      summary: 'Read an agent.',
      handle: ({ params }) => {
        const agent = engine.callers.find(params['agent_id'] ?? '');
        return agent === undefined ? noAgent() : { status: 200, json: agent as JsonObject };
      },
    },
    {
      method: 'DELETE',
      path: '/admin/v1/agents/:agent_id',
      access: 'admin',
      counts: false,
      summary: 'Remove an agent with its keys and registrations.',
      handle: ({ params: { agent_id = '' } }) =>
        changes.of(agent_id, () => context.inTurn(agent_id, () => removeAgent(agent_id, context))),
    },
    {
      method: 'POST',
      path: '/admin/v1/keys',
      access: 'admin',
      counts: false,
      summary: 'Create another key for an agent, or an admin key; shown only once.',
      body: { contentTypes: ['application/json'], maxBytes: 16 * 1024, schema: NewKeyRequest },
      handle: (request) => createKey(request, engine),
    },
    {
      method: 'GET',
      path: '/admin/v1/keys',
      access: 'admin',
      counts: false,
      summary: 'List keys, without secrets: the oldest first, or, with ?limit, the newest first.',
      parameters: LIST_PARAMETERS,
      handle: (request) => listKeys(request, engine),
    },
    {
      method: 'DELETE',
      path: '/admin/v1/keys/:key_id',
      access: 'admin',
      counts: false,
      summary: 'Revoke a key, including on open streams.',
      handle: async ({ params }) =>
        (await engine.keys.revoke(params['key_id'] ?? ''))
          ? { status: 200, json: { key_id: params['key_id'] ?? '', revoked: true } }
          : failure('not_found', {}, 'Key not found, or already revoked.'),
    },
  ];
}

async function listAgents(
  { query }: InboundRequest,
  { engine, registrations }: AdminContext,
): Promise<Answer | Failure> {
  const wanted = listQueryIn(query);
  if (isFailure(wanted)) return wanted;
  const { text } = wanted;
  const registered = registrations.registered();
  const every = new Set([...engine.router.ids(), ...registered.map(({ agentId }) => agentId)]);
  for (const { agent_id: id } of engine.callers.list()) every.add(id);
  const isFound = (id: string) =>
    text === undefined ||
    id.toLowerCase().includes(text) ||
    engine.callers.find(id)?.name?.toLowerCase().includes(text) === true;
  const { page, next } = pageOf([...every].filter(isFound), wanted, (id) => id);
  const ids = new Set(page);
  const figuresOf = agentFigures(engine);
  return {
    status: 200,
    headers: { 'Cache-Control': 'no-store' },
    json: {
      agents: page.flatMap((id) => (engine.callers.find(id) as JsonObject | undefined) ?? []),
      targets: page.filter((id) => engine.router.find(id)?.refusal === undefined && engine.router.has(id)),
      registered: registered.filter(({ agentId }) => ids.has(agentId)).map(registeredJson),
      figures: await Promise.all(page.map(async (id) => ({ ...(await figuresOf(id)) }))),
      next_cursor: next,
    },
  };
}

async function listKeys({ query }: InboundRequest, { keys }: Engine): Promise<Answer | Failure> {
  const wanted = listQueryIn(query);
  if (isFailure(wanted)) return wanted;
  const { limit, text } = wanted;
  const all = await keys.list();
  if (limit === Number.POSITIVE_INFINITY) return { status: 200, json: { keys: all.map(keyJson), next_cursor: null } };
  const isFound = ({ keyId, agentId, description }: KeyRow) =>
    text === undefined || [keyId, agentId, description ?? ''].some((one) => one.toLowerCase().includes(text));
  const { page, next } = pageOf(all.filter(isFound), wanted, placeOfKey);
  return { status: 200, json: { keys: page.map(keyJson), next_cursor: next } };
}

/** The sort key of a key in a list with the newest first. */
function placeOfKey({ createdAt, keyId }: KeyRow): string {
  return `${String(LAST_TIME - createdAt).padStart(16, '0')} ${keyId}`;
}

async function putAgent(request: InboundRequest, context: AdminContext, changes: Changes): Promise<Answer | Failure> {
  const json = await request.readJson();
  if (!json.ok) return unreadable(json.issues);
  const outcome = decodeAgentDefinition(json.value);
  if (!outcome.ok) return failure('invalid_message', { issues: outcome.issues });
  const definition = outcome.value;
  return changes.of(definition.agent_id, async () => {
    const opened = definition.driver === undefined ? undefined : await context.openAgent(definition);
    if (isFailure(opened)) return opened;
    try {
      const answer = await context.inTurn(definition.agent_id, () => recorded(definition, context));
      opened?.place();
      return answer;
    } catch (error) {
      // An agent answers only once it is recorded. Otherwise it would be gone after a restart.
      await opened?.close();
      throw error;
    }
  });
}

async function recorded(definition: AgentBody, context: AdminContext): Promise<Answer> {
  const { engine, callbackSecrets } = context;
  const agentId = definition.agent_id;
  const before = engine.callers.find(agentId);
  if (before !== undefined) {
    await engine.callers.put(definition);
    // Without this, the removed agent would answer until the next start.
    if (definition.driver === undefined && before.driver !== undefined) await standDown(agentId, context);
    return { status: 200, json: definition as JsonObject };
  }
  // The agent is recorded last: if an earlier step fails, a retry still creates it and shows a key.
  const key = await engine.keys.create({ agentId, role: 'agent' });
  try {
    const secret = await callbackSecrets.shownSecretOf(agentId);
    await engine.callers.put(definition);
    const shownOnce = { ...newKeyJson(key), webhook_secret: secret };
    return { status: 201, json: { ...(definition as JsonObject), ...shownOnce } };
  } catch (error) {
    await engine.keys.revoke(key.row.keyId).catch(() => {});
    throw error;
  }
}

/** Runs the changes to one agent one after the other: otherwise two concurrent creations could both find it missing. */
class Changes {
  readonly #last = new Map<string, Promise<unknown>>();

  async of<T>(agentId: string, change: () => Promise<T>): Promise<T> {
    const mine = Promise.resolve(this.#last.get(agentId)).then(change, change);
    this.#last.set(agentId, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(agentId) === mine) this.#last.delete(agentId);
    }
  }
}

async function removeAgent(agentId: string, context: AdminContext): Promise<Answer | Failure> {
  const { engine, callbackSecrets, registrations } = context;
  const before = engine.callers.find(agentId);
  // The next start would add it again.
  if (before === undefined && context.configured.has(agentId)) return ofTheConfiguration(agentId);
  const wasCaller = await engine.callers.remove(agentId);
  const registered = await registrations.forget(agentId);
  const isOurs = before?.driver !== undefined || !context.configured.has(agentId);
  const wasTarget = isOurs && (await standDown(agentId, context));
  if (!wasCaller && !wasTarget && registered === 0) return noAgent();
  for (const key of await engine.keys.list()) {
    if (key.agentId === agentId && key.revokedAt === null) await engine.keys.revoke(key.keyId);
  }
  await callbackSecrets.forget(agentId);
  return { status: 200, json: { agent_id: agentId, removed: true } };
}

/**
 * Removes the agent that the administration put in place. If the configuration has one with this id, that one answers
 * again.
 */
async function standDown(agentId: string, { engine, configured }: AdminContext): Promise<boolean> {
  const wasTarget = await engine.router.remove(agentId);
  if (configured.has(agentId)) await configured.putBack(agentId);
  return wasTarget;
}

async function createKey(request: InboundRequest, engine: Engine): Promise<Answer | Failure> {
  const json = await request.readJson();
  if (!json.ok) return unreadable(json.issues);
  const outcome = decodeNewKeyRequest(json.value);
  if (!outcome.ok) return failure('invalid_message', { issues: outcome.issues });
  const { agent_id: agentId, role, description, expires_in_seconds: seconds } = outcome.value;
  const expiresInMs = seconds === undefined ? undefined : seconds * 1000;
  if (description === FROM_ENVIRONMENT) {
    const message = `description must not be ${JSON.stringify(description)}: it marks the key of DRAGOMAN_ADMIN_KEY`;
    return failure('invalid_message', { issues: [{ pointer: '/description', code: 'reserved', message }] }, message);
  }
  if (role === 'admin') {
    const own = { description: textOrNull(description), expiresInMs };
    const key = await engine.keys.create({ agentId: 'admin', role: 'admin', ...own });
    return { status: 201, json: newKeyJson(key) };
  }
  if (typeof agentId !== 'string' || engine.callers.find(agentId) === undefined) {
    const message = `agent_id must name an agent that exists; got ${JSON.stringify(agentId ?? null)}`;
    return failure('invalid_message', { issues: [{ pointer: '/agent_id', code: 'unknown_agent', message }] }, message);
  }
  const key = await engine.keys.create({ agentId, role: 'agent', description: textOrNull(description), expiresInMs });
  return { status: 201, json: newKeyJson(key) };
}

function registeredJson({ agentId, name, owner }: RegisteredAgent & { readonly owner: string }): JsonObject {
  return { agent_id: agentId, name, registered_by: owner };
}

function newKeyJson({ row, secret }: IssuedKey): JsonObject {
  return { ...keyJson(row), api_key: secret };
}

function keyJson({ keyId, agentId, role, description, createdAt, expiresAt, revokedAt }: KeyRow): JsonObject {
  const time = (at: number | null) => (at === null ? null : new Date(at).toISOString());
  return {
    key_id: keyId,
    agent_id: agentId,
    role,
    description,
    created_at: time(createdAt),
    expires_at: time(expiresAt),
    revoked_at: time(revokedAt),
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function ofTheConfiguration(agentId: string): Failure {
  const suggestions = ['remove it from `agents:` there, then reload (SIGHUP) or restart the server'];
  return failure('conflict', { suggestions }, `The agent ${JSON.stringify(agentId)} is in the configuration.`);
}

/** The latest time of a `Date`. */
const LAST_TIME = 8_640_000_000_000_000;

function noAgent(): Failure {
  return failure('not_found', {}, 'Agent not found.');
}
