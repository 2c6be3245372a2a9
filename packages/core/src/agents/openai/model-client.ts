import {
  failure,
  isPassingStatus,
  type Json,
  type JsonObject,
  type Outcome,
  redacted,
  retryAfterMs,
  SseParser,
} from '@dragoman/protocols';
import { errorText } from '@dragoman/protocols/openai';
import { beginningOf } from '../../gate/beginning-of.ts';
import type { InboundAnswer, OutboundHeader } from '../../gate/gate.ts';
import { headerOf } from '../../gate/header-of.ts';
import type { NetworkGate } from '../../gate/network-gate.ts';
import type { Clock } from '../../ports/ports.ts';
import { failureOf, Refused } from '../../refusals/refused.ts';
import { cutTo } from '../../text/cut-to.ts';
import { Backoff } from '../../time/backoff.ts';
import type { JsonReader } from '../../worker-threads/json-reader.ts';
import type { IdleTimer } from '../idle-timer.ts';

export interface ModelClientOptions {
  readonly agentId: string;
  /** The URL of chat completions. */
  readonly url: string;
  readonly headers: Readonly<Record<string, OutboundHeader>>;
  /** The gate over which the model server can be reached. */
  readonly gate: NetworkGate;
  readonly clock: Clock;
  readonly reader: JsonReader;
}

/** The caller on whose behalf a model is called, and the limits of the call. */
export interface ModelCall {
  readonly caller: string;
  readonly purpose: string;
  readonly signal: AbortSignal;
  readonly idle: IdleTimer;
}

/** Chat completions of a server that speaks OpenAI's API. */
export class ModelClient {
  readonly #options: ModelClientOptions;

  constructor(options: ModelClientOptions) {
    this.#options = options;
  }

  /**
   * The chunks of one completion, or all of it from a server that does not stream. Throws `Refused`. A request is repeated only when
   * nothing of its completion was received: it was never sent, or the server answered that it may be sent again.
   */
  async *complete(body: JsonObject, call: ModelCall): AsyncGenerator<Json, void, undefined> {
    const answer = await this.#ask(body, call);
    const type = headerOf(answer, 'content-type') ?? '';
    const bytes = call.idle.watchEach(answer.body);
    if (/^text\/event-stream\b/i.test(type)) yield* this.#events(bytes);
    else if (/^application\/json\b/i.test(type)) yield await this.#whole(bytes);
    else throw modelFailed(`answered with ${JSON.stringify(cutTo(type, 100))}; expected text/event-stream`, {}, false);
  }

  async #ask(body: JsonObject, call: ModelCall): Promise<InboundAnswer> {
    const { clock } = this.#options;
    const backoff = new Backoff();
    for (let tries = 1; ; tries++) {
      let wait: number | undefined;
      try {
        const answer = await call.idle.watch(this.#send(body, call));
        if (answer.status >= 200 && answer.status < 300) return answer;
        wait = retryAfterMs(headerOf(answer, 'retry-after'), clock.now());
        const refused = await call.idle.watch(this.#refusal(answer, wait));
        if (tries >= MOST_TRIES || !refused.failure.retryable || (wait ?? 0) > LONGEST_WAIT_MS) throw refused;
      } catch (error) {
        if (error instanceof ModelRefused || tries >= MOST_TRIES || hadLeft(error)) throw ofTheModel(error);
      }
      await clock.wait(Math.max(backoff.next(), wait ?? 0), call.signal);
    }
  }

  #send(body: JsonObject, { caller, purpose, signal }: ModelCall): Promise<InboundAnswer> {
    const { gate, url, headers } = this.#options;
    return gate.request({
      caller,
      purpose,
      method: 'POST',
      url,
      allowList: 'allow',
      headers: { ...headers, ...HEADERS },
      body: { bytes: Buffer.from(JSON.stringify(body)) },
      // A model may think for a long time: its answer ends when nothing arrives for a while, or with the call.
      timeoutMs: LONGEST_MS,
      maxBytes: MOST_BYTES,
      signal,
    });
  }

  async #refusal(answer: InboundAnswer, wait: number | undefined): Promise<ModelRefused> {
    const { status } = answer;
    if (status >= 300 && status < 400) {
      answer.end?.();
      return modelFailed(`answered with a redirect (${status}), which is not followed`, { status }, false);
    }
    const excerpt = String(redacted(await beginningOf(answer, MOST_ERROR_BYTES)));
    const json = this.#options.reader.read(excerpt, { caller: this.#caller, waits: true });
    const reason = json instanceof Promise || !json.ok ? excerpt : errorText(json.value);
    const details = { status, ...(wait !== undefined && { retry_after: Math.ceil(wait / 1000) }) };
    const what = `answered with HTTP status ${status}${reason === '' ? '' : `: ${cutTo(reason, MOST_EXCERPT)}`}`;
    return modelFailed(what, details, isPassingStatus(status));
  }

  async *#events(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Json, void, undefined> {
    const parser = new SseParser({ maxEventBytes: MOST_EVENT_BYTES });
    for await (const part of bytes) {
      for (const event of parser.push(part)) {
        if (event.ok && event.value.data.trim() === '[DONE]') return yield DONE;
        const json = event.ok ? await this.#read(event.value.data) : event;
        yield sound(json, 'an event');
      }
    }
  }

  async #whole(bytes: AsyncIterable<Uint8Array>): Promise<Json> {
    const parts: Uint8Array[] = [];
    for await (const part of bytes) parts.push(part);
    return sound(await this.#read(Buffer.concat(parts)), 'an answer');
  }

  #read(source: Uint8Array | string): Outcome<Json> | Promise<Outcome<Json>> {
    return this.#options.reader.read(source, { caller: this.#caller, waits: true });
  }

  get #caller(): string {
    return `agent ${this.#options.agentId}`;
  }
}

/** The model server, or the model, failed. */
export class ModelRefused extends Refused {}

export function modelFailed(what: string, details: JsonObject = {}, retryable = true): ModelRefused {
  return new ModelRefused({ ...failure('agent_failed', details, `The model server ${what}.`), retryable });
}

function sound(json: Outcome<Json>, what: string): Json {
  if (json.ok) return json.value;
  throw modelFailed(`sent ${what} that cannot be read: ${json.issues[0]?.message ?? 'it is not JSON'}`);
}

/** Rewords the gate's error for callers: the gate names a host, which they do not know. */
function ofTheModel(error: unknown): unknown {
  const known = failureOf(error);
  if (known?.code !== 'unreachable' || known.details['looked_up'] === false) return error;
  const { reason } = known.details;
  const message = `The model server is unreachable${typeof reason === 'string' ? `: ${reason}` : ''}.`;
  return new Refused({ ...known, message });
}

/** Whether the request may have reached the server. */
function hadLeft(error: unknown): boolean {
  const { code, details } = failureOf(error) ?? {};
  return code !== 'unreachable' || details?.['sent'] !== false;
}

/** Stands for OpenAI's last event, `[DONE]`, which is not JSON. */
export const DONE = null;
const HEADERS = {
  'content-type': 'application/json',
  accept: 'text/event-stream, application/json;q=0.5',
  'accept-encoding': 'identity',
};
const MOST_TRIES = 3;
const LONGEST_WAIT_MS = 60_000;
const LONGEST_MS = 24 * 3_600_000;
const MOST_BYTES = 256 * 1024 * 1024;
const MOST_EVENT_BYTES = 8 * 1024 * 1024;
const MOST_ERROR_BYTES = 8192;
const MOST_EXCERPT = 500;
