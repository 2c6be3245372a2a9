import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A model server for the demo, with OpenAI's chat completions. Its model is a script, which calls the tool word_count
 * if it is offered. It needs no key, network or weights.
 */
export class DemoModel implements AsyncDisposable {
  readonly #server = createServer(
    (request, response) => void answer(request, response).catch(() => response.destroy()),
  );

  /** Listens on a free port of this machine. */
  static async start(): Promise<DemoModel> {
    const model = new DemoModel();
    await new Promise<void>((resolve, reject) => {
      model.#server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    model.#server.unref();
    return model;
  }

  /** The base URL for an OpenAI client. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const server: Server = this.#server;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

interface CompletionRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  if (incoming.method !== 'POST' || incoming.url !== '/v1/chat/completions') {
    response.writeHead(404, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'This model server has POST /v1/chat/completions only.' } }));
    return;
  }
  const request = JSON.parse(Buffer.concat(parts).toString()) as CompletionRequest;
  const { deltas, finish } = scripted(request);
  const head = { id: 'chatcmpl-demo', object: 'chat.completion.chunk', created: 0, model: request.model };
  const send = (event: object) => response.write(`data: ${JSON.stringify({ ...head, ...event })}\n\n`);
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (const delta of deltas) send({ choices: [{ index: 0, delta, finish_reason: null }] });
  send({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
  const [prompt_tokens, completion_tokens] = [request.messages.length, deltas.length];
  send({ choices: [], usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens } });
  response.end('data: [DONE]\n\n');
}

/** The next answer of the model. */
function scripted({ messages, tools = [] }: CompletionRequest): {
  readonly deltas: readonly object[];
  readonly finish: string;
} {
  const last = messages.at(-1);
  if (last?.role === 'tool') return textAnswer(`The tool word_count returned: ${String(last.content)}`);
  const text = typeof last?.content === 'string' ? last.content : '';
  if (!tools.some((tool) => tool.function.name === 'word_count')) {
    return textAnswer(`I am a script, and have no tools here. You wrote: ${text}`);
  }
  const call = { name: 'word_count', arguments: JSON.stringify({ text }) };
  return {
    deltas: [{ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: call }] }],
    finish: 'tool_calls',
  };
}

function textAnswer(text: string): { readonly deltas: readonly object[]; readonly finish: string } {
  return { deltas: (text.match(/\s*\S+/g) ?? []).map((content) => ({ content })), finish: 'stop' };
}
