import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

/** A client of the official SDK: what it has seen, and how it answers permission requests. */
export class Editor {
  readonly updates: acp.SessionNotification[] = [];
  readonly permissions: acp.RequestPermissionRequest[] = [];
  /** What it offers agents, beside its person. */
  capabilities: acp.ClientCapabilities = {};
  /** Requests of agents for its files and terminals, and how it answers them. */
  readonly served: { readonly method: string; readonly params: Record<string, unknown> }[] = [];
  serve: (method: string, params: Record<string, unknown>, signal: AbortSignal) => unknown = () => ({});
  permit: (request: acp.RequestPermissionRequest) => Promise<string | undefined> = async () => undefined;

  get text(): string {
    return this.updates
      .flatMap(({ update }) =>
        update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? [update.content.text] : [],
      )
      .join('');
  }

  get kinds(): string[] {
    return this.updates.map(({ update }) => update.sessionUpdate);
  }

  run<T>(stream: acp.Stream, work: (context: acp.ClientContext) => Promise<T>): Promise<T> {
    const client = acp
      .client({ name: 'editor' })
      .onNotification(acp.methods.client.session.update, ({ params }) => {
        this.updates.push(params);
      })
      .onRequest(acp.methods.client.session.requestPermission, async ({ params }) => {
        this.permissions.push(params);
        const optionId = await this.permit(params);
        return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
      });
    // Behind the others: the SDK asks one after the other whether a message is theirs.
    for (const method of SERVED) {
      client.onRequest(method as typeof acp.methods.client.fs.readTextFile, async ({ params, signal }) => {
        this.served.push({ method, params: { ...params } });
        return (await this.serve(method, { ...params }, signal)) as acp.ReadTextFileResponse;
      });
    }
    return client.connectWith(checked(stream), async (context) => {
      const info = await context.request(acp.methods.agent.initialize, {
        protocolVersion: acp.PROTOCOL_VERSION,
        clientCapabilities: this.capabilities,
      });
      expect(info).toMatchObject({
        protocolVersion: 1,
        agentInfo: { name: 'dragoman' },
        agentCapabilities: { loadSession: true },
      });
      return work(context);
    });
  }
}

export const openSession = (context: acp.ClientContext) =>
  context.request(acp.methods.agent.session.new, { cwd: '/work', mcpServers: [] });
export const prompt = (context: acp.ClientContext, sessionId: string, text = 'work') =>
  context.request(acp.methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
/** The lines of an agent's program, which ends when this process does. */
export function stdioStream(child: ChildProcess): acp.Stream {
  if (child.stdin === null || child.stdout === null) throw new Error('the program has no pipes');
  return acp.ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
  );
}

/** `dragoman acp` with these arguments. */
export function startAcp(command: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  return spawn(process.execPath, [command, 'acp', ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'] ?? '', ...environment },
  });
}

// What goes over the line is checked against the official schema of version 1, whatever the SDK makes of it.
const require = createRequire(import.meta.url);
const schemaFile = require.resolve('@agentclientprotocol/sdk').replace(/\/dist\/.*/, '/schema/v1/schema.json');
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(JSON.parse(readFileSync(schemaFile, 'utf8')), 'acp');
/** What was not valid. */
export const faults: unknown[] = [];

function check(name: string, value: unknown): void {
  const validate = ajv.getSchema(`acp#/$defs/${name}`);
  if (validate?.(value) !== true) faults.push({ name, value, errors: validate?.errors });
}

/** A stream whose messages from the server are checked as they pass. */
function checked(stream: acp.Stream): acp.Stream {
  const requested = new Map<unknown, string>();
  const look = new TransformStream({
    transform(message: Record<string, unknown>, controller) {
      const { method, id, params, result, error } = message;
      if (method === 'session/update') check('SessionNotification', params);
      else if (method === 'session/request_permission') check('RequestPermissionRequest', params);
      else if (typeof method === 'string' && SERVED.includes(method)) check(REQUESTS[method] ?? '', params);
      else if (method === 'elicitation/create') check('CreateElicitationRequest', params);
      else if (error !== undefined) check('Error', error);
      else if (result !== undefined) check(RESULTS[requested.get(id) ?? ''] ?? 'ExtResponse', result);
      controller.enqueue(message);
    },
  });
  const note = new TransformStream({
    transform(message: Record<string, unknown>, controller) {
      if (message['id'] !== undefined && message['method'] !== undefined)
        requested.set(message['id'], String(message['method']));
      controller.enqueue(message);
    },
  });
  void note.readable.pipeTo(stream.writable as WritableStream).catch(() => {});
  return {
    readable: stream.readable.pipeThrough(look as never) as acp.Stream['readable'],
    writable: note.writable as acp.Stream['writable'],
  };
}

const REQUESTS: Readonly<Record<string, string>> = {
  'fs/read_text_file': 'ReadTextFileRequest',
  'fs/write_text_file': 'WriteTextFileRequest',
  'terminal/create': 'CreateTerminalRequest',
  'terminal/output': 'TerminalOutputRequest',
  'terminal/release': 'ReleaseTerminalRequest',
  'terminal/wait_for_exit': 'WaitForTerminalExitRequest',
  'terminal/kill': 'KillTerminalRequest',
};
const SERVED = Object.keys(REQUESTS);
const RESULTS: Readonly<Record<string, string>> = {
  initialize: 'InitializeResponse',
  'session/new': 'NewSessionResponse',
  'session/load': 'LoadSessionResponse',
  'session/list': 'ListSessionsResponse',
  'session/prompt': 'PromptResponse',
  'session/set_config_option': 'SetSessionConfigOptionResponse',
};
