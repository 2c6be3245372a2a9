import { isObject, type JsonObject, parseJson, SseParser } from '@dragoman/protocols';
import { isModern, MCP_META, metaOf } from '@dragoman/protocols/mcp';
import type { McpPeer } from './peer.ts';

export interface HttpPeerOptions {
  /** The URL of the MCP endpoint. */
  readonly url: URL;
  readonly key: string;
}

/**
 * The MCP endpoint of a server. If the server has lost the session, for example by a restart, a new one is opened
 * without the client noticing.
 */
export class HttpPeer implements McpPeer {
  readonly #options: HttpPeerOptions;
  #initialize: JsonObject | undefined;
  #session: { readonly id: string; readonly version: string } | undefined;
  #reopening: Promise<void> | undefined;

  constructor(options: HttpPeerOptions) {
    this.#options = options;
  }

  async *send(message: JsonObject, signal: AbortSignal): AsyncGenerator<JsonObject, void, undefined> {
    let response = await this.#post(message, signal);
    if (response.status === 404 && this.#session !== undefined && !isModern(message)) {
      await this.#reopen(this.#session, signal);
      response = await this.#post(message, signal);
    }
    for await (const answer of answersIn(response)) {
      if (message['method'] === 'initialize') this.#opened(message, answer, response);
      yield answer;
    }
  }

  async *notices(signal: AbortSignal): AsyncGenerator<JsonObject, void, undefined> {
    for (let waitMs = FIRST_WAIT_MS; !signal.aborted; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      if (this.#session === undefined) return;
      try {
        const headers = { ...this.#headers(), accept: 'text/event-stream' };
        const response = await fetch(this.#options.url, { headers, signal, redirect: 'error' });
        if (response.ok) {
          waitMs = FIRST_WAIT_MS;
          yield* answersIn(response);
        } else await response.body?.cancel();
      } catch {
        // The server is unreachable for now; a call reports it.
      }
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        signal.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true });
      });
    }
  }

  async close(): Promise<void> {
    if (this.#session === undefined) return;
    const signal = AbortSignal.timeout(GOODBYE_MS);
    await fetch(this.#options.url, { method: 'DELETE', headers: this.#headers(), signal, redirect: 'error' });
  }

  #opened(message: JsonObject, { result }: JsonObject, { headers }: Response): void {
    const id = headers.get('mcp-session-id');
    if (id === null || !isObject(result)) return;
    this.#initialize = message;
    this.#session = { id, version: String(result['protocolVersion']) };
  }

  /** Opens a new session, once for all calls that find the old one lost. */
  #reopen(gone: { readonly id: string }, signal: AbortSignal): Promise<void> {
    if (this.#session?.id !== gone.id) return this.#reopening ?? Promise.resolve();
    this.#reopening ??= (async () => {
      this.#session = undefined;
      for await (const _ of this.send(this.#initialize ?? {}, signal));
      const initialized = await this.#post({ jsonrpc: '2.0', method: 'notifications/initialized' }, signal);
      await initialized.body?.cancel();
    })().finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  async #post(message: JsonObject, signal: AbortSignal): Promise<Response> {
    const headers = { ...this.#headers(message), 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify(message), signal, redirect: 'error' } as const;
    try {
      return await fetch(this.#options.url, request);
    } catch (error) {
      if (signal.aborted) throw error;
      throw new Error(`The server at ${this.#options.url.origin} cannot be reached. Is it running?`, { cause: error });
    }
  }

  #headers(message?: JsonObject): Record<string, string> {
    const common = {
      authorization: `Bearer ${this.#options.key}`,
      accept: 'application/json, text/event-stream',
    };
    if (message !== undefined && isObject(message) && isModern(message))
      return { ...common, ...modernHeaders(message) };
    const session = this.#session;
    if (session === undefined || message?.['method'] === 'initialize') return common;
    return { ...common, 'mcp-session-id': session.id, 'mcp-protocol-version': session.version };
  }
}

/** The headers that repeat values of the body (2026-07-28, Streamable HTTP, Request Metadata). */
function modernHeaders(message: JsonObject): Record<string, string> {
  const { method, params } = message;
  const { name, uri } = isObject(params) ? params : ({} as JsonObject);
  const named = method === 'resources/read' ? uri : name;
  return {
    'mcp-protocol-version': String(metaOf(message)[MCP_META.version]),
    'mcp-method': String(method),
    ...(typeof named === 'string' && { 'mcp-name': headerValue(named) }),
  };
}

function headerValue(value: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}

async function* answersIn(response: Response): AsyncGenerator<JsonObject, void, undefined> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream') && response.body !== null) {
    const parser = new SseParser();
    for await (const chunk of response.body) {
      for (const event of parser.push(chunk)) {
        const read = event.ok ? parseJson(event.value.data) : event;
        if (read.ok && isObject(read.value)) yield read.value;
      }
    }
    return;
  }
  const text = await response.text();
  if (response.status === 202) return;
  const read = parseJson(text);
  const isMessage = read.ok && isObject(read.value) && read.value['jsonrpc'] === '2.0';
  if (isMessage) yield read.value as JsonObject;
  else throw new Error(refusalIn(response.status, read.ok ? read.value : undefined));
}

/** The text of an RFC 9457 problem, for a client that shows only text. */
function refusalIn(status: number, problem: unknown): string {
  const { detail } = isObject(problem as JsonObject) ? (problem as JsonObject) : ({} as JsonObject);
  if (status === 401) return 'The server rejected the key. Create one with: dragoman client connect CLIENT --write';
  return `The server answered ${status}${typeof detail === 'string' ? `: ${detail}` : ''}`;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
const GOODBYE_MS = 2000;
