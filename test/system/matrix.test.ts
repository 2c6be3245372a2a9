import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { type Actor, authorisationMatrix } from '../../packages/server/src/edges/authorisation-matrix.contract.ts';
import type { Access, Route } from '../../packages/server/src/http/route.ts';
import { acpSocketRoutes } from '../../packages/server/src/routes/acp-socket.ts';
import { e2aSocketRoute } from '../../packages/server/src/routes/e2a-socket.ts';
import { wireSocketRoute } from '../../packages/server/src/routes/wire.ts';
import { allFrames, call, type HttpAnswer } from './call.ts';
import { modern } from './mcp-caller.ts';
import { SocketClient } from './socket-client.ts';
import { agentModule, System } from './system.ts';
import { workflowOf } from './workflow-caller.ts';

const system = await System.start({
  config: {
    default_agent: 'echo',
    agents: {
      echo: { driver: 'module', module: agentModule('echo') },
      held: { driver: 'module', module: agentModule('held') },
    },
    // No server listens there: callbacks to it are dead after the first try.
    mailbox: { anonymous: ['echo'], requests_per_minute: 1000, callbacks: { retries: 0 } },
    // Every route is called with a revoked key.
    messages: { unproven_per_minute: 1000 },
    gate: { callbacks: ['127.0.0.1:9'] },
  },
});
afterAll(() => system[Symbol.asyncDispose]());

const EVERYTHING = { permissions: { agents: ['*'], operations: ['*'] } };
const owner = await system.caller('owner-agent', EVERYTHING);
const other = await system.caller('other-agent', EVERYTHING);
const revoked = await system.caller('revoked-agent');
await revoke(revoked.key_id);
const KEYS: Readonly<Record<Actor, string | undefined>> = {
  owner: owner.api_key,
  other: other.api_key,
  anonymous: undefined,
  revoked: revoked.api_key,
  admin: system.adminKey,
};

const MESSAGE: JsonObject = { from: 'Me', message: 'hello there' };

/** What belongs to the owner. */
await send(owner.api_key, { request_id: 'of-owner', params: { content: 'the secret of the owner' } });
await post(owner.api_key, { metadata: { messageId: 'message-of-owner', threadId: 'thread-of-owner' } });
await registered('registered-by-owner');

await call(system.url, {
  method: 'POST',
  path: '/api/v1/workflows/execute',
  key: owner.api_key,
  json: { workflow: workflow('of-owner') },
});

let number = 0;
const fresh = () => `fresh-${++number}`;

const PUSH = { url: 'http://127.0.0.1:9/hook' };
const CREDENTIAL = { type: 'api-key', value: 'a secret of the owner', hosts: ['api.example.com'] };

/**
 * How each route is called so that a permitted caller succeeds. A route that is not here fails the suite: add what it does
 * for whom before it is served.
 */
const RULES: Readonly<Record<string, Rule>> = {
  'GET /health': { call: () => ({ path: '/health' }) },
  'GET /ready': { call: () => ({ path: '/ready' }) },
  'GET /metrics': { call: () => ({ path: '/metrics' }) },
  'GET /openapi.json': { call: () => ({ path: '/openapi.json' }) },
  'GET /': { call: () => ({ path: '/' }) },
  'GET /console/{path}': { call: () => ({ path: '/console/requests' }) },
  'GET /console/assets/{file}': { call: () => ({ path: '/console/assets/none.js' }), status: 404 },
  'POST /console/sign-in': {
    // No key authorizes it: the holder of the token gets the keys, once.
    call: () => ({ path: '/console/sign-in', json: { token: 'unknown' } }),
    status: 401,
  },
  'POST /e2a': { call: () => ({ path: '/e2a', json: chat(fresh()) }) },
  'POST /e2a/agents/{agent_id}': { call: () => ({ path: '/e2a/agents/echo', json: chat(fresh()) }) },
  'GET /e2a/requests/{request_id}/responses': {
    call: (id = 'of-owner') => ({ path: `/e2a/requests/${id}/responses` }),
    owned: true,
  },
  'POST /e2a/requests/{request_id}/cancel': {
    call: (id = 'of-owner') => ({ path: `/e2a/requests/${id}/cancel` }),
    owned: true,
  },
  'GET /e2a/questions': { call: () => ({ path: '/e2a/questions' }) },
  'POST /e2a/requests/{request_id}/questions/{question_id}': {
    // The request has ended, and its questions with it: only its owner learns so much.
    call: (id = 'of-owner') => ({ path: `/e2a/requests/${id}/questions/q_1`, json: { action: 'decline' } }),
    status: 409,
    owned: true,
  },
  'GET /admin/v1/questions': { call: () => ({ path: '/admin/v1/questions' }) },
  'POST /admin/v1/questions/{question_id}': {
    call: () => ({ path: '/admin/v1/questions/q_1', json: { action: 'decline' } }),
    status: 404,
  },
  ...lfA2aRules('/lf-a2a', '/lf-a2a'),
  ...lfA2aRules('/lf-a2a/agents/{agent_id}', '/lf-a2a/agents/echo'),
  'GET /lf-a2a/agents': { call: () => ({ path: '/lf-a2a/agents' }) },
  'GET /.well-known/jwks.json': { call: () => ({ path: '/.well-known/jwks.json' }) },
  'GET /.well-known/ai-catalog.json': { call: () => ({ path: '/.well-known/ai-catalog.json' }) },
  ...mcpRules('/mcp', '/mcp'),
  ...mcpRules('/mcp/agents/{agent_id}', '/mcp/agents/echo'),
  ...acpRules('/acp', '/acp'),
  ...acpRules('/acp/agents/{agent_id}', '/acp/agents/echo'),
  ...openAiRules(),
  'POST /a2e/session': { call: () => ({ path: '/a2e/session' }) },
  'POST /a2e/send': {
    call: async (id) => ({
      path: '/a2e/send',
      json: { type: 'ping' },
      headers: { 'x-session-id': id ?? (await wireSession()) },
    }),
    owned: true,
  },
  'GET /a2e/stream': {
    // One that has ended, or its stream would never.
    call: async (id) => ({
      path: '/a2e/stream',
      headers: { 'x-session-id': id ?? (await wireSession({ a2e: '2.0' })) },
    }),
    owned: true,
  },
  'GET /a2e/types': { call: () => ({ path: '/a2e/types' }) },
  'GET /a2e/learning': { call: () => ({ path: '/a2e/learning' }) },
  'GET /e2a/requests': { call: () => ({ path: '/e2a/requests' }) },
  'GET /admin/v1/requests': { call: () => ({ path: '/admin/v1/requests' }) },
  'GET /admin/v1/failed-logins': { call: () => ({ path: '/admin/v1/failed-logins' }) },
  'GET /admin/v1/overview': { call: () => ({ path: '/admin/v1/overview' }) },
  'GET /admin/v1/tools': { call: () => ({ path: '/admin/v1/tools' }) },
  'GET /admin/v1/agent-cards': { call: () => ({ path: '/admin/v1/agent-cards' }) },
  'POST /admin/v1/agent-cards/preview': {
    call: () => ({ path: '/admin/v1/agent-cards/preview', json: {} }),
    status: 400,
  },
  'POST /admin/v1/agents/{agent_id}/accept': { call: () => ({ path: '/admin/v1/agents/nobody/accept' }), status: 404 },
  'GET /admin/v1/mcp-servers': { call: () => ({ path: '/admin/v1/mcp-servers' }) },
  'GET /admin/v1/tools/{name}/change': { call: () => ({ path: '/admin/v1/tools/no__tool/change' }), status: 404 },
  'POST /admin/v1/tools/{name}/refuse': { call: () => ({ path: '/admin/v1/tools/no__tool/refuse' }), status: 404 },
  'POST /admin/v1/tools/{name}/accept': { call: () => ({ path: '/admin/v1/tools/no__tool/accept' }), status: 404 },
  'POST /admin/v1/agents': {
    call: () => ({ path: '/admin/v1/agents', json: { agent_id: fresh(), permissions: {} } }),
    status: 201,
  },
  'GET /admin/v1/agents': { call: () => ({ path: '/admin/v1/agents' }) },
  'GET /admin/v1/agents/{agent_id}': { call: () => ({ path: '/admin/v1/agents/owner-agent' }) },
  'GET /admin/v1/agents/{agent_id}/limits': { call: () => ({ path: '/admin/v1/agents/owner-agent/limits' }) },
  'DELETE /admin/v1/agents/{agent_id}': {
    call: async () => ({ path: `/admin/v1/agents/${(await system.caller(fresh())).agent_id}` }),
  },
  'DELETE /admin/v1/agents/{agent_id}/data': {
    call: async () => ({ path: `/admin/v1/agents/${(await system.caller(fresh())).agent_id}/data` }),
  },
  'POST /admin/v1/keys': {
    call: () => ({ path: '/admin/v1/keys', json: { agent_id: 'owner-agent' } }),
    status: 201,
  },
  'GET /admin/v1/keys': { call: () => ({ path: '/admin/v1/keys' }) },
  'POST /a2a': { call: () => ({ path: '/a2a', json: MESSAGE }), words: 'application/json' },
  'GET /a2a/messages/{message_id}': {
    call: (id = 'message-of-owner') => ({ path: `/a2a/messages/${id}` }),
    owned: true,
    words: 'application/json',
  },
  'GET /a2a/threads': { call: () => ({ path: '/a2a/threads' }), words: 'application/json' },
  'GET /a2a/threads/{thread_id}': {
    call: (id = 'thread-of-owner') => ({ path: `/a2a/threads/${id}` }),
    owned: true,
    words: 'application/json',
  },
  'POST /a2a/messages': {
    call: (_id, actor = 'owner') => ({ path: '/a2a/messages', json: a2aRequest(SENDERS[actor]) }),
    needsProof: true,
  },
  'POST /agents/register': {
    call: () => ({ path: '/agents/register', json: registration(fresh()) }),
    status: 201,
  },
  'GET /agents/discover': { call: () => ({ path: '/agents/discover' }) },
  'GET /agents': { call: () => ({ path: '/agents' }) },
  'GET /agents/{agent_id}': { call: () => ({ path: '/agents/echo' }) },
  'PUT /agents/{agent_id}/heartbeat': {
    call: (id = 'registered-by-owner') => ({ path: `/agents/${id}/heartbeat` }),
    owned: true,
  },
  'DELETE /agents/{agent_id}': {
    call: async (id) => ({ path: `/agents/${id ?? (await registered())}` }),
    owned: true,
  },
  'GET /stats': { call: () => ({ path: '/stats' }) },
  'GET /schemas/{dialect}/{file}': { call: () => ({ path: '/schemas/a2a-messages/base-message.json' }) },
  'GET /.well-known/agent-card.json': { call: () => ({ path: '/.well-known/agent-card.json' }) },
  'GET /.well-known/agent.json': { call: () => ({ path: '/.well-known/agent.json' }) },
  'GET /.well-known/agent-registration.json': { call: () => ({ path: '/.well-known/agent-registration.json' }) },
  'GET /agent': { call: () => ({ path: '/agent' }) },
  'GET /admin/v1/requests/{request_id}': { call: (id = 'of-owner') => ({ path: `/admin/v1/requests/${id}` }) },
  'POST /admin/v1/requests/{request_id}/cancel': {
    call: (id = 'of-owner') => ({ path: `/admin/v1/requests/${id}/cancel` }),
  },
  'DELETE /admin/v1/requests/{request_id}': {
    call: async () => {
      const id = fresh();
      await send(owner.api_key, chat(id));
      return { path: `/admin/v1/requests/${id}` };
    },
  },
  'GET /admin/v1/outbox': { call: () => ({ path: '/admin/v1/outbox' }) },
  'GET /admin/v1/nodes': { call: () => ({ path: '/admin/v1/nodes' }) },
  'GET /admin/v1/egress': { call: () => ({ path: '/admin/v1/egress' }) },
  'GET /admin/v1/outbox/{id}': { call: async () => ({ path: `/admin/v1/outbox/${await deadCallback()}` }) },
  'POST /admin/v1/outbox/{id}/give-up': {
    call: async () => ({ path: `/admin/v1/outbox/${await deadCallback()}/give-up` }),
    status: 409,
  },
  'POST /admin/v1/outbox-hosts/{host}/retry': { call: () => ({ path: '/admin/v1/outbox-hosts/nobody.example/retry' }) },
  'POST /admin/v1/outbox/{id}/retry': {
    call: async () => ({ path: `/admin/v1/outbox/${await deadCallback()}/retry` }),
  },
  'DELETE /admin/v1/keys/{key_id}': {
    call: async () => ({ path: `/admin/v1/keys/${(await system.caller(fresh())).key_id}` }),
  },
  'GET /admin/v1/credentials': { call: () => ({ path: '/admin/v1/credentials' }) },
  'PUT /admin/v1/credentials/{credential_id}': {
    call: () => ({ path: `/admin/v1/credentials/${fresh()}`, json: CREDENTIAL }),
    status: 201,
  },
  'GET /admin/v1/credentials/{credential_id}': { call: async () => ({ path: await credential() }) },
  'DELETE /admin/v1/credentials/{credential_id}': { call: async () => ({ path: await credential() }) },
  'POST /admin/v1/vault/rotate': { call: () => ({ path: '/admin/v1/vault/rotate', json: {} }) },
  'POST /api/v1/workflows/validate': {
    call: () => ({ path: '/api/v1/workflows/validate', json: { workflow: workflow(fresh()) } }),
    words: 'application/json',
  },
  'POST /api/v1/workflows/plan': {
    call: () => ({ path: '/api/v1/workflows/plan', json: { workflow: workflow(fresh()) } }),
    words: 'application/json',
  },
  'POST /api/v1/workflows/execute': {
    call: () => ({ path: '/api/v1/workflows/execute', json: { workflow: workflow(fresh()) } }),
    words: 'application/json',
  },
  'GET /api/v1/executions': { call: () => ({ path: '/api/v1/executions' }), words: 'application/json' },
  'GET /api/v1/executions/{execution_id}': {
    call: (id = 'of-owner') => ({ path: `/api/v1/executions/${id}` }),
    owned: true,
    words: 'application/json',
  },
  'DELETE /api/v1/executions/{execution_id}': {
    call: async (id) => ({ path: `/api/v1/executions/${id ?? (await executed())}` }),
    owned: true,
    words: 'application/json',
  },
  'GET /api/v1/executions/{execution_id}/record': {
    call: (id = 'of-owner') => ({ path: `/api/v1/executions/${id}/record` }),
    owned: true,
    words: 'application/json',
  },
  'GET /api/v1/executions/{execution_id}/events': {
    call: (id = 'of-owner') => ({ path: `/api/v1/executions/${id}/events` }),
    owned: true,
    words: 'application/json',
  },
  'POST /api/v1/executions/{execution_id}/cancel': {
    call: (id = 'of-owner') => ({ path: `/api/v1/executions/${id}/cancel` }),
    owned: true,
    words: 'application/json',
  },
  'GET /api/v1/storage': { call: () => ({ path: '/api/v1/storage' }), words: 'application/json' },
  'GET /api/v1/storage/{key}': {
    call: async (key) => ({ path: `/api/v1/storage/${key ?? (await storedKey())}` }),
    owned: true,
    words: 'application/json',
  },
  'DELETE /api/v1/storage/{key}': {
    call: async (key) => ({ path: `/api/v1/storage/${key ?? (await storedKey())}` }),
    owned: true,
    words: 'application/json',
  },
  'GET /api/v1/rate-limit/status': { call: () => ({ path: '/api/v1/rate-limit/status' }), words: 'application/json' },
  'DELETE /api/v1/cache': { call: () => ({ path: '/api/v1/cache' }), words: 'application/json' },
  'DELETE /admin/v1/cache': { call: () => ({ path: '/admin/v1/cache' }) },
  'GET /api/v1/capabilities': { call: () => ({ path: '/api/v1/capabilities' }), words: 'application/json' },
  'POST /api/v1/knowledge/search': {
    call: () => ({ path: '/api/v1/knowledge/search', json: { query: 'sort a list' } }),
    words: 'application/json',
  },
  'GET /api/v1/knowledge/bases': { call: () => ({ path: '/api/v1/knowledge/bases' }), words: 'application/json' },
  'GET /admin/v1/apis': { call: () => ({ path: '/admin/v1/apis' }) },
  'PUT /admin/v1/apis/{api_id}': { call: () => ({ path: '/admin/v1/apis/shop', json: SHOP }), status: 201 },
  'GET /admin/v1/apis/{api_id}': { call: () => ({ path: '/admin/v1/apis/shop' }) },
  'DELETE /admin/v1/apis/{api_id}': {
    call: async () => ({ path: await put(`/admin/v1/apis/${fresh()}`, SHOP) }),
  },
  'GET /api/v1/workflows': { call: () => ({ path: '/api/v1/workflows' }), words: 'application/json' },
  'GET /admin/v1/workflows': { call: () => ({ path: '/admin/v1/workflows' }) },
  'PUT /admin/v1/workflows/{name}': { call: () => ({ path: '/admin/v1/workflows/rest', json: REST }), status: 201 },
  'GET /admin/v1/workflows/{name}': { call: () => ({ path: '/admin/v1/workflows/rest' }) },
  'DELETE /admin/v1/workflows/{name}': {
    call: async () => ({ path: await put(`/admin/v1/workflows/${fresh()}`, REST) }),
  },
  'GET /admin/v1/knowledge': { call: () => ({ path: '/admin/v1/knowledge' }) },
  'PUT /admin/v1/knowledge/{kb_id}': { call: () => ({ path: '/admin/v1/knowledge/rules', json: BASE }), status: 201 },
  'GET /admin/v1/knowledge/{kb_id}': { call: () => ({ path: '/admin/v1/knowledge/rules' }) },
  'DELETE /admin/v1/knowledge/{kb_id}/documents/{document_id}': {
    call: async () => ({ path: `${await put(`/admin/v1/knowledge/${fresh()}`, BASE)}/documents/one` }),
  },
  'DELETE /admin/v1/knowledge/{kb_id}': {
    call: async () => ({ path: await put(`/admin/v1/knowledge/${fresh()}`, BASE) }),
  },
};

interface Rule {
  /** The request of the route; an owned one names the id of the requested thing. */
  call(id?: string, actor?: Actor): Call | Promise<Call>;
  /** Open because a signature can stand for a key; without either no caller passes. */
  readonly needsProof?: boolean;
  /** What the path names is one caller's own. */
  readonly owned?: boolean;
  /** Of success. Default: 200. */
  readonly status?: number;
  /** The content type of a refusal, where it is not a problem of RFC 9457. */
  readonly words?: string;
}

interface Call {
  readonly path: string;
  readonly json?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The routes of one agent: its card, JSON-RPC, and HTTP+JSON of both versions. */
function lfA2aRules(base: string, at: string): Record<string, Rule> {
  const rest = (prefix: string, card: string, words: string): Record<string, Rule> => ({
    [`POST ${base}${prefix}/{operation}`]: {
      call: () => ({ path: `${at}${prefix}/message:send`, json: { message: a2aMessage(prefix) } }),
      words,
    },
    [`GET ${base}${prefix}/${card}`]: { call: () => ({ path: `${at}${prefix}/${card}` }), words },
    [`GET ${base}${prefix}/tasks`]: { call: () => ({ path: `${at}${prefix}/tasks` }), words },
    [`GET ${base}${prefix}/tasks/{task}`]: {
      call: (id = 'of-owner') => ({ path: `${at}${prefix}/tasks/${id}` }),
      owned: true,
      words,
    },
    [`POST ${base}${prefix}/tasks/{task}`]: {
      // It has ended, so it can no longer be cancelled.
      call: (id = 'of-owner') => ({ path: `${at}${prefix}/tasks/${id}:cancel` }),
      owned: true,
      words,
      status: 400,
    },
    ...pushRules(
      `${base}${prefix}/tasks/{task}/pushNotificationConfigs`,
      (task) => `${at}${prefix}/tasks/${task}/pushNotificationConfigs`,
      prefix === '' ? PUSH : { pushNotificationConfig: PUSH },
      words,
    ),
  });
  return {
    [`GET ${base}/.well-known/agent-card.json`]: { call: () => ({ path: `${at}/.well-known/agent-card.json` }) },
    [`POST ${base}`]: {
      call: () => ({
        path: at,
        json: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: a2aMessage('') } },
      }),
    },
    ...rest('', 'extendedAgentCard', 'application/a2a+json'),
    ...rest('/v1', 'card', 'application/json'),
  };
}

/** Of a task that has ended, so that nothing is sent. */
function pushRules(
  route: string,
  at: (task: string) => string,
  config: JsonObject,
  words: string,
): Record<string, Rule> {
  const rule = { owned: true, words };
  return {
    [`POST ${route}`]: { ...rule, call: (id = 'of-owner') => ({ path: at(id), json: config }) },
    [`GET ${route}`]: { ...rule, call: (id = 'of-owner') => ({ path: at(id) }) },
    [`GET ${route}/{config}`]: { ...rule, call: (id = 'of-owner') => ({ path: `${at(id)}/none` }), status: 404 },
    [`DELETE ${route}/{config}`]: { ...rule, call: (id = 'of-owner') => ({ path: `${at(id)}/none` }) },
  };
}

function a2aMessage(prefix: string): JsonObject {
  const [role, part] = prefix === '' ? ['ROLE_USER', { text: 'hi' }] : ['user', { kind: 'text', text: 'hi' }];
  return { messageId: fresh(), role, parts: [part] };
}

/** Whose a session is, is tested with the sessions of MCP. */
function openAiRules(): Record<string, Rule> {
  const chatRequest = { model: 'echo', messages: [{ role: 'user', content: 'hi' }] };
  const words = 'application/json';
  return {
    'GET /v1/models': { call: () => ({ path: '/v1/models' }), words },
    'GET /v1/models/{model}': { call: () => ({ path: '/v1/models/echo' }), words },
    'POST /v1/chat/completions': { call: () => ({ path: '/v1/chat/completions', json: chatRequest }), words },
    'POST /v1/responses': { call: () => ({ path: '/v1/responses', json: { model: 'echo', input: 'hi' } }), words },
    'GET /v1/responses/{response_id}': {
      call: (id = 'of-owner') => ({ path: `/v1/responses/${id}` }),
      owned: true,
      words,
    },
    'POST /v1/responses/{response_id}/cancel': {
      call: (id = 'of-owner') => ({ path: `/v1/responses/${id}/cancel` }),
      owned: true,
      words,
    },
  };
}

function mcpRules(route: string, path: string): Record<string, Rule> {
  return {
    [`POST ${route}`]: { call: () => ({ path, ...modern('server/discover') }) },
    [`GET ${route}`]: { call: () => ({ path }), status: 400 },
    [`DELETE ${route}`]: { call: () => ({ path }), status: 400 },
  };
}

/** Whose a connection is, is tested with the connections of ACP. */
function acpRules(route: string, path: string): Record<string, Rule> {
  const json = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1 } };
  return {
    [`POST ${route}`]: { call: () => ({ path, json }) },
    [`GET ${route}`]: { call: () => ({ path }), status: 400 },
    [`DELETE ${route}`]: { call: () => ({ path }), status: 400 },
  };
}

const routes = await routesOfTheServer();
const statuses = { unauthenticated: 401, forbidden: 403, absent: 404 };

describe('every route of the running server', () => {
  test('has a rule, and every rule a route', () => {
    expect(routes.map(nameOf).sort()).toEqual(Object.keys(RULES).sort());
  });

  test.each(authorisationMatrix(routes).map((row) => ({ ...row, name: nameOf(row.route) })))(
    '$name as $actor: $verdict',
    async ({ route, actor, verdict: byAccess }) => {
      const rule = RULES[nameOf(route)];
      if (rule === undefined) throw new Error('this route has no rule');
      const isUnproven = rule.needsProof === true && actor === 'anonymous';
      const verdict = isUnproven ? 'unauthenticated' : byAccess;
      const received = await ask(route, actor, await rule.call(undefined, actor));
      const text = await received.text();
      expect(received.status, text).toBe(verdict === 'passes' ? (rule.status ?? 200) : statuses[verdict]);
      if (verdict === 'passes') return;
      // A refusal has a fixed text and nothing of the request.
      expect(received.headers['content-type']).toBe(
        rule.words ?? (isUnproven ? 'application/json' : 'application/problem+json'),
      );
      expect(text).not.toContain('owner');
      if (verdict === 'unauthenticated') expect(received.headers['www-authenticate']).toBe('Bearer');
      if (verdict !== 'absent') return;
      const absent = await ask(route, actor, await rule.call('never-was'));
      expect(withoutDate(received)).toEqual(withoutDate(absent));
      expect(timeless(text)).toBe(timeless(await absent.text()));
    },
  );
});

describe('every WebSocket route', () => {
  const socketRoutes = [
    ...acpSocketRoutes({} as Parameters<typeof acpSocketRoutes>[0]),
    e2aSocketRoute({} as Parameters<typeof e2aSocketRoute>[0]),
    wireSocketRoute({} as Parameters<typeof wireSocketRoute>[0]),
  ];

  test.each(authorisationMatrix(socketRoutes))('$route.path as $actor: $verdict', async ({ route, actor, verdict }) => {
    const key = KEYS[actor];
    const upgrade = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    if (verdict === 'passes') {
      expect((await handshake(route.path, [], key)).status).toBe(101);
    } else {
      const answer = await call(system.url, { path: route.path, headers: upgrade, ...(key && { key }) });
      expect(answer.status).toBe(statuses[verdict]);
    }
  });

  test.each(authorisationMatrix(socketRoutes))(
    '$route.path as $actor with the key among the subprotocols: $verdict',
    async ({ route, actor, verdict }) => {
      const key = KEYS[actor];
      const offer = ['dragoman', ...(key === undefined ? [] : [`key.${Buffer.from(key).toString('base64url')}`])];
      const { status, headers } = await handshake(route.path, offer);
      expect(status).toBe(verdict === 'passes' ? 101 : statuses[verdict]);
      expect(headers['sec-websocket-protocol']).toBe(verdict === 'passes' ? 'dragoman' : undefined);
      for (const secret of offer.slice(1)) expect(system.log).not.toContain(secret);
    },
  );

  test("resuming another's request is resuming none", async () => {
    const socket = await SocketClient.open(system.url, other.api_key);
    const answers: JsonObject[] = [];
    for (const id of ['of-owner', 'never-was']) {
      const [frame = '{}'] = await socket.ask({ request_id: id.length.toString(), ...resuming(id) });
      const { body, status, is_final } = JSON.parse(frame);
      answers.push({ body, status, is_final });
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toMatchObject({ is_final: true, status: 'failed', body: { code: 'E2A.NOT_FOUND' } });
    socket.close();
  });
});

describe('messages sent by methods', () => {
  test("another's sessions and history look like none", async () => {
    const mine = { session_id: 'shared-name', method: 'chat.send', params: { content: 'private words' } };
    await send(owner.api_key, { request_id: fresh(), ...mine });
    const history = { method: 'history.get', params: { session_id: 'shared-name' } };
    const absent = { method: 'history.get', params: { session_id: 'never-was' } };
    const resultOf = async (key: string, envelope: JsonObject) =>
      (await send(key, { request_id: fresh(), ...envelope }))['body'] as JsonObject;
    expect(JSON.stringify(await resultOf(owner.api_key, history))).toContain('private words');
    const theirs = JSON.stringify(await resultOf(other.api_key, history));
    expect(theirs.replaceAll('shared-name', 'never-was')).toBe(JSON.stringify(await resultOf(other.api_key, absent)));
    expect(JSON.stringify(await resultOf(other.api_key, { method: 'session.list' }))).not.toContain('shared-name');
    const removal = await resultOf(other.api_key, { method: 'session.delete', params: { session_id: 'shared-name' } });
    expect(removal).toMatchObject({ code: 'E2A.NOT_FOUND' });
    expect(JSON.stringify(await resultOf(owner.api_key, history))).toContain('private words');
  });

  test("another's running answer is not interrupted", async () => {
    const running = await sendStream(owner.api_key, { request_id: 'kept-running', session_id: 'busy', ...HELD });
    await running.frames().next();
    await send(other.api_key, { request_id: fresh(), session_id: 'busy', method: 'chat.interrupt' });
    await call(system.url, { method: 'POST', path: '/e2a/requests/kept-running/cancel', key: other.api_key });
    const state = await call(system.url, { path: '/e2a/requests/kept-running/responses', key: owner.api_key });
    expect(await state.json()).toMatchObject({ is_final: false, responses: [{ sequence: 0 }] });
    await call(system.url, { method: 'POST', path: '/e2a/requests/kept-running/cancel', key: owner.api_key });
  });

  test('a caller that claims another name is recorded under the name of its key', async () => {
    const echo = await send(other.api_key, { request_id: 'spoofed', source_agent_id: 'owner-agent' });
    expect(echo['status']).toBe('succeeded');
    const path = '/e2a/requests/spoofed/responses';
    expect((await call(system.url, { path, key: owner.api_key })).status).toBe(404);
    expect((await call(system.url, { path, key: other.api_key })).status).toBe(200);
  });
});

describe('a revoked key', () => {
  test('ends its open streams over every transport within a second, and no other', async () => {
    const going = await system.caller('going-agent');
    const staying = await (
      await call(system.url, {
        method: 'POST',
        path: '/admin/v1/keys',
        key: system.adminKey,
        json: { agent_id: 'going-agent' },
      })
    ).json();
    const { api_key: otherKey } = staying as typeof going;
    const streams = await Promise.all(
      ['text/event-stream', 'application/x-ndjson'].map(async (accept) => {
        const answer = await sendStream(going.api_key, { request_id: `open-${accept}`, ...HELD }, accept);
        await answer.frames().next();
        return answer;
      }),
    );
    const kept = await sendStream(otherKey, { request_id: 'open-kept', ...HELD });
    await kept.frames().next();
    const socket = await SocketClient.open(system.url, going.api_key);
    socket.send({ request_id: 'open-socket', is_stream: true, ...HELD });
    await socket.frames('open-socket').next();

    const ended = Promise.all([...streams.map((stream) => over(stream)), socket.closed]);
    await revoke(going.key_id);
    expect((await atOnce(ended)).at(-1)).toBe(1008);
    const again = await call(system.url, { path: '/e2a/requests/open-socket/responses', key: going.api_key });
    expect(again.status).toBe(401);

    // The agent's other key is as good as before, and continues to read the stream of the first.
    const rest = await call(system.url, { path: '/e2a/requests/open-socket/responses', key: otherKey });
    expect(await rest.json()).toMatchObject({ is_final: false, responses: [{ sequence: 0 }] });
    expect(kept.message.readableEnded || kept.message.destroyed).toBe(false);
    kept.destroy();
  });

  test('ends them also when the whole agent is removed', async () => {
    const going = await system.caller('leaving-agent');
    const stream = await sendStream(going.api_key, { request_id: 'open', ...HELD });
    await stream.frames().next();
    const ended = over(stream);
    await call(system.url, { method: 'DELETE', path: '/admin/v1/agents/leaving-agent', key: system.adminKey });
    await atOnce(ended);
  });
});

describe.each([{ permissions: {} }, { permissions: { agents: [] } }])('an empty list: %j', (definition) => {
  const ENVELOPES: readonly JsonObject[] = [
    { method: 'chat.send' },
    { method: 'session/prompt' },
    { method: 'an.agents.own' },
    { method: 'ext', ext_method: 'anything' },
    { method: null },
    { method: 'chat.send', agent_ref: { id: 'echo' } },
    { method: 'session.list', agent_ref: { id: 'echo' } },
    { method: 'session.create' },
    { method: 'history.get', params: { session_id: 'any' } },
  ];

  test.each(ENVELOPES)('lets nothing through: %j', async (envelope) => {
    const { api_key: key } = await system.caller(fresh(), definition);
    const json = { request_id: 'refused', ...envelope };
    for (const path of ['/e2a', '/e2a/agents/echo']) {
      const answer = await call(system.url, { method: 'POST', path, key, json });
      expect(answer.status, `${path}: ${await answer.text()}`).toBe(403);
    }
    const socket = await SocketClient.open(system.url, key);
    const [frame = ''] = await socket.ask(json);
    socket.close();
    expect(JSON.parse(frame)).toMatchObject({ is_final: true, body: { code: 'E2A.FORBIDDEN' } });
    const recorded = await call(system.url, { path: '/e2a/requests/refused/responses', key });
    expect(recorded.status).toBe(404);
  });

  test('does not reveal which agents exist', async () => {
    const { api_key: key } = await system.caller(fresh(), definition);
    const ask = (id: string) => call(system.url, { method: 'POST', path: `/e2a/agents/${id}`, key, json: chat('any') });
    const [there, absent] = [await ask('echo'), await ask('zzzz')];
    expect([there.status, (await there.text()).replaceAll('echo', 'zzzz')]).toEqual([
      absent.status,
      await absent.text(),
    ]);
  });
});

test('a list lets through what it names and nothing else', async () => {
  const { api_key: key } = await system.caller(fresh(), { permissions: { agents: ['held'] } });
  const status = async (id: string) =>
    (await call(system.url, { method: 'POST', path: `/e2a/agents/${id}`, key, json: chat(fresh()) })).status;
  expect([await status('held'), await status('echo'), await status('hel'), await status('*')]).toEqual([
    200, 403, 403, 403,
  ]);
});

/** The path of a credential that is there. */
async function credential(): Promise<string> {
  const path = `/admin/v1/credentials/${fresh()}`;
  await call(system.url, { method: 'PUT', path, key: system.adminKey, json: CREDENTIAL });
  return path;
}

/** The route table of the server, as it publishes it. */
async function routesOfTheServer(): Promise<Route[]> {
  const document = (await (await call(system.url, { path: '/openapi.json' })).json()) as OpenApi;
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { security, summary }]) => {
      const route = { method: method.toUpperCase() as Route['method'], path, access: accessOf(security), summary };
      return { ...route, owned: RULES[nameOf(route)]?.owned === true, counts: false, handle: () => ({ status: 200 }) };
    }),
  );
}

interface OpenApi {
  readonly paths: Record<string, Record<string, { security: Record<string, unknown>[]; summary: string }>>;
}

function accessOf(security: readonly Record<string, unknown>[]): Access {
  if (security.length === 0) return 'public';
  if (Object.keys(security[0] ?? {}).length === 0) return 'open';
  return Object.hasOwn(security[0] ?? {}, 'adminKey') || Object.hasOwn(security[0] ?? {}, 'adminBearer')
    ? 'admin'
    : 'agent';
}

function nameOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

function ask({ method }: Route, actor: Actor, made: Call): Promise<HttpAnswer> {
  const key = KEYS[actor];
  return call(system.url, { method, ...made, ...(key && { key }) });
}

function withoutDate({ headers, status }: HttpAnswer): object {
  // Every call that counts has a little less left than the one before it.
  const { date, 'x-ratelimit-remaining': _, 'x-ratelimit-reset': __, ratelimit, ...rest } = headers;
  return { status, ...rest };
}

/** Refusals of the mailbox have a status text. */
function timeless(text: string): string {
  return text.replace(/"timestamp":"[^"]*"/, '');
}

async function post(key: string, fields: JsonObject): Promise<void> {
  await call(system.url, { method: 'POST', path: '/a2a', key, json: { ...MESSAGE, ...fields } });
}

/** The id of a callback that was given up. */
async function deadCallback(): Promise<string> {
  await post(owner.api_key, { from: { name: 'Owner', callbackUrl: 'https://127.0.0.1:9/in' } });
  for (;;) {
    const dead = await call(system.url, { path: '/admin/v1/outbox?state=dead', key: system.adminKey });
    const { deliveries } = (await dead.json()) as { deliveries: { id: string }[] };
    if (deliveries[0] !== undefined) return deliveries[0].id;
  }
}

const SENDERS: Readonly<Record<Actor, string>> = {
  owner: 'owner-agent',
  other: 'other-agent',
  anonymous: 'nobody-at-all',
  revoked: 'revoked-agent',
  admin: 'owner-agent',
};

function a2aRequest(sender: string): JsonObject {
  return {
    message_id: randomUUID(),
    message_type: 'request',
    sender_id: sender,
    recipient_id: 'echo',
    timestamp: new Date().toISOString(),
    payload: { method: 'say', parameters: { content: 'hello there' } },
  };
}

function registration(agentId: string): JsonObject {
  const card = { agent_id: agentId, name: agentId, version: '1.0.0', description: '', capabilities: ['data_read'] };
  return { agent_card: { ...card, supported_protocols: ['A2A/1.0'] }, endpoint: 'https://agent.example.com/a2a' };
}

/** The id of an agent the owner has registered. */
async function registered(agentId = fresh()): Promise<string> {
  await call(system.url, { method: 'POST', path: '/agents/register', key: owner.api_key, json: registration(agentId) });
  return agentId;
}

/** An execution of the owner that has ended. */
async function executed(): Promise<string> {
  const id = fresh();
  const json = { workflow: workflow(id) };
  await call(system.url, { method: 'POST', path: '/api/v1/workflows/execute', key: owner.api_key, json });
  return id;
}

/** A key under which a workflow of the owner has stored something. */
async function storedKey(): Promise<string> {
  const key = fresh();
  const operations = {
    time: { GetCurrentDateTime: { format: 'timestamp', outputPath: '/workflow/now' } },
    store: { StoreData: { inputPath: '/workflow/now', storage: 'localStorage', key } },
  };
  const json = { workflow: workflowOf(operations, { id: key }) };
  await call(system.url, { method: 'POST', path: '/api/v1/workflows/execute', key: owner.api_key, json });
  return key;
}

function chat(requestId: string): JsonObject & { request_id: string } {
  return { request_id: requestId, method: 'chat.send', params: { content: 'hello there' } };
}

function resuming(requestId: string): JsonObject {
  return { method: 'chat.resume', params: { request_id: requestId } };
}

async function send(key: string, envelope: JsonObject): Promise<JsonObject> {
  const answer = await call(system.url, {
    method: 'POST',
    path: '/e2a',
    key,
    json: { method: 'chat.send', ...envelope },
  });
  const [frame = ''] = await allFrames(answer);
  return JSON.parse(frame);
}

function sendStream(key: string, envelope: JsonObject, accept = 'text/event-stream'): Promise<HttpAnswer> {
  return call(system.url, { method: 'POST', path: '/e2a', key, accept, json: { is_stream: true, ...envelope } });
}

/** One that does nothing but wait for a moment. */
function workflow(executionId: string): string {
  const wait = { type: 'operationUpdate', operationId: 'wait', operation: { Wait: { duration: 1 } } };
  return [wait, { type: 'beginExecution', executionId, operationOrder: ['wait'] }]
    .map((line) => JSON.stringify(line))
    .join('\n');
}

/** Resolves when the peer has ended the answer, whole or not. */
function over({ message }: HttpAnswer): Promise<void> {
  return new Promise((resolve) => {
    message.once('close', resolve).resume();
  });
}

/** Resolves unless the server answers a few more requests first: a second at most (threat A9), however slow the machine. */
function atOnce<Value>(awaited: Promise<Value>): Promise<Value> {
  const afterAFew = async () => {
    for (let times = 0; times < 50; times++) await call(system.url, { path: '/health' });
    throw new Error('the server has answered fifty requests meanwhile');
  };
  return Promise.race([awaited, afterAFew()]);
}

/** What the server answers to the opening handshake; without a key, of a peer that sets no header but the subprotocols. */
function handshake(
  path: string,
  offer: string[],
  key?: string,
): Promise<{ status: number; headers: IncomingHttpHeaders }> {
  return new Promise((resolve) => {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const socket = new WebSocket(`${system.url.replace('http', 'ws')}${path}`, offer, { headers });
    const settle = ({ statusCode = 0, headers }: IncomingMessage) => resolve({ status: statusCode, headers });
    socket.on('error', () => {});
    socket.once('upgrade', settle).once('unexpected-response', (_, message) => settle(message));
    socket.once('open', () => socket.terminate());
  });
}

/** A session of the owner's on the wire; with a handshake that is rejected, one that has ended. */
async function wireSession(handshake?: JsonObject): Promise<string> {
  const { api_key: key } = owner;
  const opened = await call(system.url, { method: 'POST', path: '/a2e/session', key });
  const { session_id } = (await opened.json()) as { session_id: string };
  const headers = { 'x-session-id': session_id };
  const json = { a2e: '1.0', type: 'handshake/req', id: 'h', ts: 1, ...handshake };
  await (await call(system.url, { method: 'POST', path: '/a2e/send', key, headers, json })).text();
  return session_id;
}

async function revoke(keyId: string): Promise<void> {
  await call(system.url, { method: 'DELETE', path: `/admin/v1/keys/${keyId}`, key: system.adminKey });
}

const HELD: JsonObject = { method: 'chat.send', agent_ref: { id: 'held' }, params: {} };

const SHOP: JsonObject = { base_url: 'https://shop.example.com', endpoints: [{ method: 'GET', path: '/goods' }] };
const REST: JsonObject = { workflow: workflow('rest') };
const BASE: JsonObject = { agents: ['*'], documents: [{ id: 'one', text: 'Returns are taken for thirty days.' }] };

/** Puts something in place to be taken away, and gives its path. */
async function put(path: string, json: JsonObject): Promise<string> {
  await call(system.url, { method: 'PUT', path, key: system.adminKey, json });
  return path;
}
