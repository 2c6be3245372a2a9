import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import * as acp from '@agentclientprotocol/sdk';
import { createHttpStream } from '@agentclientprotocol/sdk/experimental/http-client';
import { afterAll, describe, expect, test } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../packages/protocols/src/json.ts';
import { NETWORK_TRANSPORTS } from '../../packages/server/src/edges/wire-peer.contract.ts';
import { call } from './call.ts';
import { Caller, expectOrdered, read } from './caller.ts';
import { modern, openSession, post } from './mcp-caller.ts';
import { ForeignAgents } from './peers/foreign-agents.ts';
import { agentModule, moduleAgent, System } from './system.ts';
import { WireCaller } from './wire-caller.ts';
import { workflowOf } from './workflow-caller.ts';

// Every target through every protocol. A protocol or a kind of target joins by one line in its list.

const EVERYTHING = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);
const foreign = await ForeignAgents.start([{ version: '1.0' }, { version: '0.3' }]);
const [modernUrl = '', oldUrl = ''] = foreign.urls;
const system = await System.start({
  config: {
    agents: {
      worker: moduleAgent('worker'),
      modern: { driver: 'a2a', url: modernUrl },
      old: { driver: 'a2a', url: oldUrl },
    },
    tools: [agentModule('work-tool')],
    mcp_servers: { every: { command: process.execPath, args: [EVERYTHING, 'stdio'] } },
    workflows: { stored: { greet: { file: fileURLToPath(new URL('./agents/greet.jsonl', import.meta.url)) } } },
    wire: { port: 0 },
    mailbox: { requests_per_minute: 100_000 },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await foreign[Symbol.asyncDispose]();
});

const all = ['*'];
const ada = await system.caller('ada-agent', {
  permissions: { agents: all, tools: all, workflows: all, operations: all },
});
const bob = await system.caller('bob-agent', { permissions: {} });

type Mode = 'work' | 'fail' | 'hold';

/** A request: its target, and what the target is to do. */
interface Question {
  /** The id of the request where the protocol lets its caller choose one. */
  readonly id: string;
  readonly target: Target;
  readonly mode: Mode;
}

interface Outcome {
  readonly ok: boolean;
  /** What the target returned, or the error. */
  readonly answer: Json;
  /** The number of events before the end; `undefined` where the protocol answers in one piece. */
  readonly progress?: number;
}

interface Target {
  /** Where the hub finds it. */
  readonly agent: string;
  method(mode: Mode): string;
  params(mode: Mode): JsonObject;
  /** How a mailbox message asks for it. */
  content(mode: Mode): Json;
  /** Its name as a tool on the wire. */
  tool(mode: Mode): string;
  args(mode: Mode): JsonObject;
  /** The operation that calls it from a workflow; without one it is the workflow itself. */
  operation?(mode: Mode): JsonObject;
  /** The text of its result. */
  textOf(result: Json): Json | undefined;
}

const adHoc = (mode: Mode) => workflowOf({ work: callTool('work', { mode }) }, { id: `own-${randomUUID()}` });

const TARGETS: Readonly<Record<string, Target>> = {
  agent: agentTarget('worker'),
  'foreign agent of A2A 1.0': agentTarget('modern'),
  'foreign agent of A2A 0.3': agentTarget('old'),
  tool: {
    agent: 'tools',
    method: () => 'work',
    params: (mode) => ({ mode }),
    content: (mode) => ({ tool: 'work', arguments: { mode } }),
    tool: () => 'work',
    args: (mode) => ({ mode }),
    operation: (mode) => callTool('work', { mode }),
    textOf: (result) => (typeof result === 'string' ? result : memberOf(result, 'text')),
  },
  'MCP tool': {
    agent: 'tools',
    method: mcpTool,
    params: (mode) => sum(mode),
    content: (mode) => ({ tool: mcpTool(mode), arguments: sum(mode) }),
    tool: mcpTool,
    args: (mode) => sum(mode),
    operation: (mode) => callTool(mcpTool(mode), sum(mode)),
    textOf: (result) => (JSON.stringify(result).includes('The sum of 2 and 3 is 5') ? 'Hello world' : undefined),
  },
  'stored workflow': {
    agent: 'workflows',
    method: () => 'greet',
    params: (mode) => ({ mode }),
    content: (mode) => ({ name: 'greet', inputs: { mode } }),
    tool: () => 'greet',
    args: (mode) => ({ mode }),
    operation: (mode) => ({ RunWorkflow: { name: 'greet', inputs: { mode }, outputPath: '/workflow/out' } }),
    textOf: (result) => memberOf(memberOf(memberOf(result, 'results') ?? result, 'work'), 'text'),
  },
  'ad hoc workflow': {
    agent: 'workflows',
    method: () => 'workflow.execute',
    params: (mode) => ({ workflow: adHoc(mode) }),
    content: (mode) => ({ workflow: adHoc(mode) }),
    tool: () => 'workflow.execute',
    args: (mode) => ({ workflow: adHoc(mode) }),
    textOf: (result) => memberOf(memberOf(memberOf(result, 'results') ?? result, 'work'), 'text'),
  },
};

function agentTarget(agent: string): Target {
  return {
    agent,
    method: () => 'chat.send',
    params: (content) => ({ content }),
    content: (mode) => mode,
    tool: () => agent,
    args: (content) => ({ content }),
    operation: (message) => ({ CallAgent: { agent, message, outputPath: '/workflow/out' } }),
    textOf: (result) => (typeof result === 'string' ? result : memberOf(result, 'text')),
  };
}

interface Protocol {
  ask(key: string, question: Question): Promise<Outcome>;
  /** Cancels the request with this id. */
  cancel(key: string, id: string): Promise<unknown>;
  /** The id of the request, where the server chooses it. */
  requestId?(id: string): string;
}

/** What the server chose as the id of a request, by ours. */
const tasks = new Map<string, string>();

const wires = new Map<string, WireCaller>();

const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  'E2A over HTTP': {
    cancel: cancelRequest,
    ask: async (key, question) => {
      const answer = await new Caller(system, key).post(envelopeOf(question), { accept: 'application/x-ndjson' });
      if (answer.status !== 200) return { ok: false, answer: (await answer.json()) as Json };
      return outcomeOf((await answer.text()).trim().split('\n'));
    },
  },
  'E2A over WebSocket': {
    cancel: cancelRequest,
    ask: async (key, question) => outcomeOf(await new Caller(system, key).overSocket(envelopeOf(question))),
  },
  'A2A messages': {
    cancel: cancelRequest,
    ask: async (key, { id, target, mode }) => {
      const { agent: recipient_id } = target;
      const message = {
        message_id: id,
        message_type: 'request',
        sender_id: key === ada.api_key ? 'ada-agent' : 'bob-agent',
        recipient_id,
        timestamp: new Date().toISOString(),
        correlation_id: null,
        payload: { method: target.method(mode), parameters: target.params(mode) },
      };
      const answer = await call(system.url, { method: 'POST', path: '/a2a/messages', key, json: message });
      const { message_type, payload } = (await answer.json()) as { message_type?: string; payload?: JsonObject };
      if (message_type !== 'response' || payload?.['status'] !== 'success')
        return { ok: false, answer: payload ?? null };
      return { ok: true, answer: payload['data'] ?? null };
    },
  },
  'A2A mailbox': {
    cancel: cancelRequest,
    ask: async (key, { id, target, mode }) => {
      const message = {
        from: 'Ada',
        to: target.agent,
        message: { contentType: 'application/json', content: target.content(mode) },
        metadata: { messageId: id },
      };
      const answer = await call(system.url, { method: 'POST', path: '/a2a', key, json: message });
      const json = (await answer.json()) as { status?: string; message?: { content: Json } };
      if (answer.status !== 200 || json.status === 'error') return { ok: false, answer: json as unknown as Json };
      const { content = null } = json.message ?? {};
      return { ok: memberOf(content, 'error') === undefined, answer: content };
    },
  },
  'Linux Foundation A2A': {
    requestId: (id) => tasks.get(id) ?? '',
    cancel: (key, id) => cancelRequest(key, tasks.get(id) ?? id),
    ask: async (key, { id, target, mode }) => {
      const content = target.content(mode);
      const part = typeof content === 'string' ? { text: content } : { data: content };
      const answer = await call(system.url, {
        method: 'POST',
        path: `/lf-a2a/agents/${target.agent}/message:stream`,
        key,
        json: { message: { messageId: id, role: 'ROLE_USER', parts: [part] } },
      });
      if (answer.status !== 200) return { ok: false, answer: (await answer.json()) as Json };
      const events: JsonObject[] = [];
      for await (const { data } of answer.events()) {
        const event = JSON.parse(data) as JsonObject;
        if (isObject(event['task'])) tasks.set(id, String(event['task']['id']));
        events.push(event);
      }
      const { status } = memberOf(events.at(-1), 'statusUpdate') as { status: { state: string } };
      const parts = events.flatMap((event) => partsOf(memberOf(event, 'artifactUpdate')));
      const text = parts.flatMap((one) => (typeof one['text'] === 'string' ? [one['text']] : [])).join('');
      const data = parts.find((one) => one['data'] !== undefined)?.['data'];
      const final = status.state === 'TASK_STATE_COMPLETED' ? (data ?? { text }) : status;
      return { ok: status.state === 'TASK_STATE_COMPLETED', answer: final, progress: events.length - 1 };
    },
  },
  'MCP, in a session': {
    cancel: cancelRequest,
    ask: async (key, question) => mcpOutcome(await callByMcp(key, question, await openSession(system.url, key))),
  },
  'MCP 2026-07-28': {
    cancel: cancelRequest,
    ask: async (key, question) => mcpOutcome(await callByMcp(key, question)),
  },
  'OpenAI chat completions': {
    requestId: (id) => tasks.get(id) ?? '',
    cancel: (key, id) => cancelRequest(key, tasks.get(id) ?? id),
    ask: (key, question) => askByOpenAi(key, question, '/v1/chat/completions'),
  },
  'OpenAI responses': {
    requestId: (id) => tasks.get(id) ?? '',
    cancel: (key, id) => call(system.url, { method: 'POST', path: `/v1/responses/${tasks.get(id) ?? id}/cancel`, key }),
    ask: (key, question) => askByOpenAi(key, question, '/v1/responses'),
  },
  'ACP over Streamable HTTP': {
    requestId: (id) => tasks.get(id) ?? '',
    cancel: (key, id) => cancelRequest(key, tasks.get(id) ?? id),
    ask: (key, question) => promptByAcp(key, question),
  },
  'A2E wire': {
    cancel: async (_, id) => {
      wires.get(id)?.send('tool/cancel/req', { target_id: id });
    },
    ask: async (key, { id, target, mode }) => {
      const open = NETWORK_TRANSPORTS['tcp'];
      if (open === undefined) throw new Error('there is no TCP');
      const place = { url: system.url, wire: { url: system.wireUrl, socket: undefined } };
      await using wire = await new WireCaller(await open(place, key)).greet(key);
      wire.call(target.tool(mode), target.args(mode), { id, streaming: true, durable: true });
      wires.set(id, wire);
      const wireFrames = await wire.upTo(id);
      const { type, data } = (wireFrames.at(-1) ?? {}) as { type?: string; data?: JsonObject };
      if (type !== 'tool/call/resp' || data?.['success'] !== true)
        return { ok: false, answer: wireFrames.at(-1) ?? null };
      return { ok: true, answer: data['data'] ?? null, progress: wireFrames.length - 1 };
    },
  },
  'A2E workflows': {
    cancel: (key, id) => call(system.url, { method: 'POST', path: `/api/v1/executions/${id}/cancel`, key }),
    ask: async (key, { id, target, mode }) => {
      const own = target.operation?.(mode) ?? callTool('work', { mode });
      const workflow = workflowOf({ work: own }, { id });
      const answer = await call(system.url, {
        method: 'POST',
        path: '/api/v1/workflows/execute',
        key,
        json: { workflow },
      });
      const json = (await answer.json()) as JsonObject;
      if (json['status'] !== 'success') return { ok: false, answer: json };
      return { ok: true, answer: target.operation === undefined ? json : (memberOf(json['results'], 'work') ?? null) };
    },
  },
};

describe.each(Object.entries(PROTOCOLS))('%s', (name, protocol) => {
  describe.each(Object.entries(TARGETS))('reaches %s', (kind, target) => {
    test('and gets its result, with its progress where the protocol streams', async () => {
      const question = { id: randomUUID(), target, mode: 'work' } as const;
      const { ok, answer, progress } = await protocol.ask(ada.api_key, question);
      expect({ ok, textOf: target.textOf(answer), answer }).toMatchObject({ ok: true, textOf: 'Hello world' });
      if (progress !== undefined && kind !== 'MCP tool') expect(progress).toBeGreaterThan(0);
    });

    test('and others read it while it runs and afterwards, from any frame, and cancel it', async () => {
      const requestId = randomUUID();
      const asking = protocol.ask(ada.api_key, { id: requestId, target, mode: 'hold' });
      const idOf = () => protocol.requestId?.(requestId) ?? requestId;
      await expect.poll(() => statusFor(ada.api_key, idOf()), { timeout: 10_000 }).toBe(200);
      const id = idOf();
      expect(await statusFor(bob.api_key, id)).toBe(404);
      expect(await mailboxReads(id)).toMatchObject({ message: { content: { status: 'received' } } });
      const reading = new Caller(system, ada.api_key).resume(id);
      expect(await (await new Caller(system, ada.api_key).cancel(id)).json()).toMatchObject({ cancelled: true });
      expect((await asking).ok).toBe(false);
      const texts = await reading;
      const frames = texts.map((text) => read(text));
      expectOrdered(frames, `${name} → ${kind}`);
      expect(frames.at(-1)).toMatchObject({ request_id: id, is_final: true, status: 'failed' });
      expect(await new Caller(system, ada.api_key).resume(id, frames.length - 2)).toEqual(texts.slice(-1));
      const params = { request_id: id };
      expect(
        await new Caller(system, ada.api_key).overSocket({ request_id: id, method: 'chat.resume', params }),
      ).toEqual(texts);
      expect(await mailboxReads(id)).toMatchObject({ replyTo: id });
    });

    test('and gets its error', async () => {
      const { ok, answer } = await protocol.ask(ada.api_key, { id: randomUUID(), target, mode: 'fail' });
      expect(ok, JSON.stringify(answer)).toBe(false);
    });

    test('and is refused without permission', async () => {
      const { ok, answer } = await protocol.ask(bob.api_key, { id: randomUUID(), target, mode: 'work' });
      expect(ok, JSON.stringify(answer)).toBe(false);
      expect(JSON.stringify(answer)).toMatch(/forbidden|unauthorized|permission/i);
    });

    test('and can cancel it', async () => {
      const id = randomUUID();
      let isOver = false;
      const asking = protocol.ask(ada.api_key, { id, target, mode: 'hold' }).finally(() => {
        isOver = true;
      });
      // It may not have started at the first cancellation.
      while (!isOver) {
        await protocol.cancel(ada.api_key, id);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect((await asking).ok).toBe(false);
    });
  });
});

async function statusFor(key: string, id: string): Promise<number> {
  return (await new Caller(system, key).get(`${id}/responses`)).status;
}

async function mailboxReads(id: string): Promise<unknown> {
  return (await call(system.url, { path: `/a2a/messages/${id}`, key: ada.api_key })).json();
}

function cancelRequest(key: string, id: string): Promise<unknown> {
  return new Caller(system, key).cancel(id);
}

function envelopeOf({ id, target, mode }: Question) {
  const { agent } = target;
  return {
    request_id: id,
    method: target.method(mode),
    params: target.params(mode),
    agent_ref: { id: agent },
    is_stream: true,
  };
}

function outcomeOf(texts: readonly string[]): Outcome {
  const frames = texts.map((text) => read(text));
  expectOrdered(frames);
  const final = frames.at(-1);
  if (final?.response_kind !== 'e2a.complete') return { ok: false, answer: final?.body ?? null };
  const streamed = frames
    .map(({ body }) => (body['delta_kind'] === 'text' && typeof body['delta'] === 'string' ? body['delta'] : ''))
    .join('');
  const result = final.body['result'] ?? null;
  return { ok: true, answer: streamed === '' ? result : { text: streamed }, progress: frames.length - 1 };
}

/** The messages that answer `tools/call`. */
async function callByMcp(key: string, { id, target, mode }: Question, session?: Readonly<Record<string, string>>) {
  const isAgent = target.agent !== 'tools' && target.agent !== 'workflows';
  const args = isAgent ? { prompt: target.content(mode) } : target.args(mode);
  const own = target.tool(mode) === 'workflow.execute' ? 'run_workflow' : target.tool(mode);
  const name = (isAgent ? `ask_${target.agent}` : own).replaceAll(/[^A-Za-z0-9_]/g, '_');
  const params = { name, arguments: args, _meta: { progressToken: id, 'dragoman/request_id': id } };
  const request = modern('tools/call', params);
  const message = session && { json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers: session };
  const answer = await post(system.url, { key, ...(message ?? request) });
  if (answer.headers['content-type'] !== 'text/event-stream') return [(await answer.json()) as JsonObject];
  const messages: JsonObject[] = [];
  for await (const { data } of answer.events()) messages.push(JSON.parse(data) as JsonObject);
  return messages;
}

/** What an editor shows: the text of the answer, or the error. */
async function promptByAcp(key: string, { id, target, mode }: Question): Promise<Outcome> {
  const content = target.content(mode);
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const stream = createHttpStream(`${system.url}/acp/agents/${target.agent}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const updates: acp.SessionUpdate[] = [];
  const client = acp.client({ name: 'hub' }).onNotification(acp.methods.client.session.update, ({ params }) => {
    updates.push(params.update);
  });
  return client.connectWith(stream, async (context): Promise<Outcome> => {
    try {
      await context.request(acp.methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
      const { sessionId } = await context.request(acp.methods.agent.session.new, { cwd: '/work', mcpServers: [] });
      const answered = context.request(acp.methods.agent.session.prompt, {
        sessionId,
        prompt: [{ type: 'text', text }],
      });
      answered.catch(() => {});
      const recorded = expect.poll(() => requestOf(key, sessionId)).toBeTruthy();
      await Promise.race([recorded, answered]);
      tasks.set(id, (await requestOf(key, sessionId)) ?? '');
      const { stopReason } = await answered;
      const textOf = updates
        .map((update) => ('content' in update && memberOf(update.content as Json, 'text')) || '')
        .join('');
      const answer = textOf.startsWith('{') || textOf.startsWith('[') ? (JSON.parse(textOf) as Json) : { text: textOf };
      return { ok: stopReason === 'end_turn', answer, progress: updates.length };
    } catch (error) {
      const { code, message, data } = error as acp.RequestError;
      return { ok: false, answer: { code, message, data: data as Json } };
    }
  });
}

/** The id of the request of a session. */
async function requestOf(key: string, sessionId: string): Promise<string | undefined> {
  const listed = await call(system.url, { path: `/e2a/requests?session=${sessionId}`, key });
  const { requests = [] } = (await listed.json()) as { requests?: { request_id: string }[] };
  return requests[0]?.request_id;
}

/** Streamed: text, JSON where the target has no text, or an error. */
async function askByOpenAi(key: string, { id, target, mode }: Question, path: string): Promise<Outcome> {
  const content = target.content(mode);
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const requestId = path.endsWith('completions') ? { messages: [{ role: 'user', content: text }] } : { input: text };
  const json = { model: target.agent, stream: true, ...requestId };
  const answer = await call(system.url, { method: 'POST', path, key, json });
  tasks.set(id, String(answer.headers['x-request-id']));
  if (answer.status !== 200) return { ok: false, answer: (await answer.json()) as Json };
  const events: JsonObject[] = [];
  for await (const { data } of answer.events()) if (data !== '[DONE]') events.push(JSON.parse(data) as JsonObject);
  const last = events.at(-1);
  if (memberOf(last, 'error') !== undefined || memberOf(last, 'type') === 'response.failed') {
    return { ok: false, answer: last ?? null };
  }
  const textOf = events.map((event) => String(openAiDelta(event) ?? '')).join('');
  return {
    ok: true,
    answer: textOf.startsWith('{') || textOf.startsWith('[') ? (JSON.parse(textOf) as Json) : { text: textOf },
  };
}

function openAiDelta(event: JsonObject): Json | undefined {
  if (event['type'] === 'response.output_text.delta') return event['delta'];
  const [choice] = (event['choices'] ?? []) as JsonObject[];
  return memberOf(memberOf(choice, 'delta'), 'content');
}

function mcpOutcome(messages: readonly JsonObject[]): Outcome {
  const last = messages.at(-1);
  const result = memberOf(last, 'result');
  if (result === undefined || memberOf(result, 'isError') === true) return { ok: false, answer: last ?? null };
  return { ok: true, answer: memberOf(result, 'structuredContent') ?? memberOf(result, 'content') ?? null };
}

function callTool(tool: string, args: JsonObject): JsonObject {
  return { CallTool: { tool, arguments: args, outputPath: '/workflow/out' } };
}

/** A tool of the MCP server, one that takes its time where it is to be cancelled. */
function mcpTool(mode: Mode): string {
  return mode === 'hold' ? 'every__trigger-long-running-operation' : 'every__get-sum';
}

/** What `fail` sends is not a number, which that server refuses. */
function sum(mode: Mode): JsonObject {
  return mode === 'hold' ? { duration: 600, steps: 600 } : { a: 2, b: mode === 'work' ? 3 : mode };
}

function partsOf(update: Json | undefined): JsonObject[] {
  const parts = memberOf(memberOf(update, 'artifact'), 'parts');
  return Array.isArray(parts) ? parts.filter(isObject) : [];
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) ? value[name] : undefined;
}
