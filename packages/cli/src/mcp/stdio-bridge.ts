import type { Readable } from 'node:stream';
import { isObject, type Json, type JsonObject, LineSplitter, type Outcome, parseJsonBytes } from '@dragoman/protocols';
import { isModern, mcpError } from '@dragoman/protocols/mcp';
import type { LineOutput } from '@dragoman/server';
import type { McpPeer } from './peer.ts';

/**
 * Carries messages between the standard streams of this process and an MCP server. Resolves at the end of the input.
 */
export class StdioBridge {
  readonly #peer: McpPeer;
  readonly #output: Pick<LineOutput, 'write'>;
  readonly #running = new Map<Json, { readonly abort: AbortController; readonly isModern: boolean }>();
  readonly #closed = new AbortController();
  readonly #open = new Set<Promise<void>>();

  constructor(peer: McpPeer, output: Pick<LineOutput, 'write'>) {
    this.#peer = peer;
    this.#output = output;
  }

  async run(input: Readable): Promise<void> {
    const lines = new LineSplitter({ maxLineBytes: LONGEST_LINE });
    let handled = Promise.resolve();
    // One after the other, because a later message may need the session that an earlier one opened.
    const take = (read: readonly Outcome<Json>[]) => {
      for (const one of read) handled = handled.then(() => this.#take(one));
    };
    try {
      await new Promise<void>((resolve) => {
        // Parsed immediately: the next chunk overwrites the bytes.
        input.on('data', (chunk: Uint8Array) => take(lines.push(chunk).flatMap(parsed)));
        for (const event of ['end', 'close', 'error']) input.once(event, () => resolve());
      });
      take(lines.end().flatMap(parsed));
      await handled;
    } finally {
      this.#closed.abort();
      for (const { abort } of this.#running.values()) abort.abort();
      await Promise.allSettled(this.#open);
      await this.#peer.close().catch(() => {});
    }
  }

  async #take(read: Outcome<Json>): Promise<void> {
    if (!read.ok)
      return this.#write({ jsonrpc: '2.0', error: { code: -32700, message: read.issues[0]?.message ?? '' } });
    const { value } = read;
    const { method, id } = isObject(value) ? value : ({} as JsonObject);
    if (method === 'notifications/cancelled' && this.#isCancelled(value as JsonObject)) return;
    const isRequest = id !== undefined && method !== undefined;
    // A value that is not a message is sent, too, because the server reports it.
    const sending = this.#send(value as JsonObject, isRequest);
    // Calls run concurrently. Other messages are sent in order.
    if (isRequest && method !== 'initialize') this.#follow(sending);
    else await sending;
    if (method === 'notifications/initialized') this.#follow(this.#notify());
  }

  /**
   * Without a session there is no cancel message: closing the response stream cancels the call (2026-07-28,
   * Cancellation).
   */
  #isCancelled({ params }: JsonObject): boolean {
    const running = isObject(params) ? this.#running.get(params['requestId'] ?? null) : undefined;
    if (running?.isModern === true) running.abort.abort();
    return running?.isModern === true;
  }

  async #send(message: JsonObject, isRequest: boolean): Promise<void> {
    const abort = new AbortController();
    const id = isObject(message) ? (message['id'] ?? null) : null;
    const running = { abort, isModern: isObject(message) && isModern(message) };
    if (isRequest) this.#running.set(id, running);
    try {
      for await (const answer of this.#peer.send(message, abort.signal)) await this.#write(answer);
    } catch (error) {
      if (!isRequest || abort.signal.aborted) return;
      const { code, message: words } = mcpError(-32603, error instanceof Error ? error.message : String(error));
      await this.#write({ jsonrpc: '2.0', id, error: { code, message: words } });
    } finally {
      if (this.#running.get(id) === running) this.#running.delete(id);
    }
  }

  async #notify(): Promise<void> {
    try {
      for await (const notice of this.#peer.notices(this.#closed.signal)) await this.#write(notice);
    } catch {
      // The client continues without notices.
    }
  }

  #follow(work: Promise<void>): void {
    const followed = work.finally(() => this.#open.delete(followed));
    this.#open.add(followed);
  }

  #write(message: JsonObject): Promise<void> {
    return new Promise((resolve) => void this.#output.write(`${JSON.stringify(message)}\n`, () => resolve()));
  }
}

function parsed(line: Outcome<Uint8Array>): Outcome<Json>[] {
  return [line.ok ? parseJsonBytes(line.value) : line];
}

const LONGEST_LINE = 8 * 1024 * 1024;
