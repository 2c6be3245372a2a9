import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Json, JsonObject } from '@dragoman/protocols';
import { listening } from './ports.ts';

/** One scripted answer of a model server. */
export interface ModelScript {
  /** Texts, streamed one a chunk. */
  readonly text?: readonly string[];
  readonly reasoning?: readonly string[];
  /** Calls of functions, by name, with their arguments: text is sent as it is. */
  readonly calls?: readonly (readonly [name: string, args: Json])[];
  readonly finish?: string;
  /** Answers whole, as JSON. */
  readonly whole?: boolean;
  /** A body as it is, with its content type. */
  readonly body?: string;
  readonly type?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** After the chunks, the connection is cut, closed without an end, or left open. */
  readonly after?: 'cut' | 'end' | 'hang';
}

export interface ModelRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: JsonObject;
}

/**
 * A model server that gives scripted answers in order, the last one again and again, as OpenAI's or Anthropic's API does. Each uses
 * 10 tokens of input and 5 of output.
 */
export class ScriptedModel implements AsyncDisposable {
  readonly requests: ModelRequest[] = [];
  /** Answers whose reader left before their end. */
  left = 0;
  url = '';
  readonly #script: readonly (ModelScript | ((body: JsonObject) => ModelScript))[];
  readonly #server: Server;

  private constructor(script: readonly (ModelScript | ((body: JsonObject) => ModelScript))[]) {
    this.#script = script;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(
    ...script: readonly (ModelScript | ((body: JsonObject) => ModelScript))[]
  ): Promise<ScriptedModel> {
    const model = new ScriptedModel(script);
    model.url = `http://127.0.0.1:${await listening(model.#server)}/v1`;
    return model;
  }

  /** The messages of the request of this number. */
  messages(index: number): JsonObject[] {
    return (this.requests[index]?.body['messages'] ?? []) as JsonObject[];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Programs look for a list of models, and do without.
    if (request.method === 'GET') {
      response.writeHead(404).end();
      return;
    }
    let text = '';
    for await (const part of request) text += part;
    const body = JSON.parse(text) as JsonObject;
    const chosen = this.#script[Math.min(this.requests.length, this.#script.length - 1)] ?? {};
    this.requests.push({ path: request.url ?? '', headers: request.headers, body });
    response.on('close', () => {
      if (!response.writableFinished) this.left++;
    });
    const script = typeof chosen === 'function' ? chosen(body) : chosen;
    if (request.url?.startsWith('/v1/messages') === true) writeMessage(response, script);
    else write(response, script);
  }
}

function write(response: ServerResponse, script: ModelScript): void {
  const { text = [], reasoning = [], calls = [], after } = script;
  const finish = script.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop');
  const made = calls.map(([name, args], index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  }));
  if (script.body !== undefined) {
    response.writeHead(script.status ?? 200, { 'content-type': script.type ?? 'application/json', ...script.headers });
    response.end(script.body);
    return;
  }
  if (script.whole === true) {
    const message = { role: 'assistant', content: text.join(''), ...(made.length > 0 && { tool_calls: made }) };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: finish }], usage: USAGE }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (event: Json) => response.write(`data: ${JSON.stringify(event)}\n\n`);
  const chunk = (delta: JsonObject, reason: string | null = null) =>
    send({ id: 'c1', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] });
  chunk({ role: 'assistant', content: '' });
  for (const part of reasoning) chunk({ reasoning_content: part });
  for (const part of text) chunk({ content: part });
  for (const { function: called, ...call } of made) {
    const { name, arguments: args } = called;
    const half = Math.ceil(args.length / 2);
    chunk({ tool_calls: [{ ...call, function: { name, arguments: args.slice(0, half) } }] });
    chunk({ tool_calls: [{ index: call.index, function: { arguments: args.slice(half) } }] });
  }
  if (after === 'cut') setImmediate(() => response.destroy());
  else if (after === 'end') response.end();
  else if (after !== 'hang') {
    chunk({}, finish);
    send({ choices: [], usage: USAGE });
    response.end('data: [DONE]\n\n');
  }
}

/** The text and the calls, streamed as Anthropic's API does. */
function writeMessage(response: ServerResponse, { text = [], calls = [], after }: ModelScript): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (type: string, more: JsonObject = {}) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
  // Claude Code takes a message with an id that it has seen for one that it has shown.
  const message = {
    id: randomUUID(),
    type: 'message',
    role: 'assistant',
    model: 'small',
    content: [],
    stop_reason: null,
  };
  send('message_start', {
    message: { ...message, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 0 } },
  });
  const pieces = text.map((piece) => ({ type: 'text_delta', text: piece }));
  const parts = calls.map(([name, args]) => {
    const start = { type: 'tool_use', id: `toolu_${randomUUID()}`, name, input: {} };
    return { start, deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(args) }] };
  });
  const blocks = text.length > 0 ? [{ start: { type: 'text', text: '' }, deltas: pieces }, ...parts] : parts;
  for (const [index, { start, deltas }] of blocks.entries()) {
    send('content_block_start', { index, content_block: start });
    for (const delta of deltas) send('content_block_delta', { index, delta });
    if (after === 'hang') return;
    send('content_block_stop', { index });
  }
  const reason = calls.length > 0 ? 'tool_use' : 'end_turn';
  send('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 5 } });
  send('message_stop');
  response.end();
}

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
