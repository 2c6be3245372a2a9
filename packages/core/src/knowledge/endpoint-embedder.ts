import { isObject, type Json } from '@dragoman/protocols';
import type { Gate } from '../gate/gate.ts';
import { wholeBody } from '../gate/whole-body.ts';
import type { Clock, Log } from '../ports/ports.ts';
import { CredentialUse } from '../secrets/credential-use.ts';
import { JsonReader } from '../worker-threads/json-reader.ts';
import { type Embedder, unit } from './embedder.ts';

export interface EndpointEmbedderOptions {
  readonly gate: Pick<Gate, 'request'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The complete URL, such as `https://api.openai.com/v1/embeddings`. */
  readonly url: string;
  readonly model: string;
  /** A credential of the vault, sent as `Authorization`. */
  readonly credential?: string;
  readonly reader?: JsonReader;
}

/** Embeds through an endpoint that speaks OpenAI's embeddings API, instead of with the built-in encoder. */
export class EndpointEmbedder implements Embedder {
  readonly #options: EndpointEmbedderOptions;
  readonly #reader: JsonReader;
  readonly #stopped = new AbortController();
  readonly #listeners: (() => void)[] = [];
  #restUntil = 0;

  constructor(options: EndpointEmbedderOptions) {
    this.#options = options;
    this.#reader = options.reader ?? new JsonReader();
  }

  isReady(): boolean {
    return !this.#stopped.signal.aborted && this.#options.clock.elapsed() >= this.#restUntil;
  }

  async whenReady(): Promise<boolean> {
    return this.isReady();
  }

  onReady(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async embed(texts: readonly string[]): Promise<readonly Float32Array[]> {
    try {
      return await this.#ask(texts);
    } catch (error) {
      const { clock, log, url } = this.#options;
      this.#restUntil = clock.elapsed() + REST_MS;
      log.warn(
        { url, reason: error instanceof Error ? error.message : String(error) },
        'the embeddings endpoint failed',
      );
      clock.after(REST_MS, () => {
        for (const listener of this.#listeners) listener();
      });
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.length = 0;
    this.#stopped.abort();
  }

  async #ask(texts: readonly string[]): Promise<Float32Array[]> {
    const { gate, url, model, credential } = this.#options;
    const answer = await gate.request({
      caller: 'server',
      method: 'POST',
      url,
      allowList: 'allow',
      headers: {
        'content-type': 'application/json',
        ...(credential !== undefined && { authorization: new CredentialUse(credential) }),
      },
      body: { json: { model, input: [...texts] } },
      timeoutMs: 30_000,
      maxBytes: MAX_BYTES,
      signal: this.#stopped.signal,
    });
    const bytes = await wholeBody(answer);
    if (answer.status !== 200) throw new Error(`it answered ${answer.status}`);
    const limits = { nodes: MAX_NUMBERS, numbers: 'finite' } as const;
    const json = await this.#reader.read(bytes, { caller: 'embeddings', waits: true, limits });
    if (!json.ok) throw new Error('its answer is not JSON');
    return vectorsIn(json.value, texts.length);
  }
}

/** The vectors in `{"data":[{"index":0,"embedding":[…]}…]}`, whose items may be in any order. */
function vectorsIn(json: Json, count: number): Float32Array[] {
  const data = isObject(json) && Array.isArray(json['data']) ? json['data'] : [];
  const vectors = new Map<number, Float32Array>();
  for (const [position, item] of data.entries()) {
    if (!isObject(item) || !Array.isArray(item['embedding'])) continue;
    const parts = item['embedding'];
    if (!parts.every((part) => typeof part === 'number')) continue;
    vectors.set(typeof item['index'] === 'number' ? item['index'] : position, unit(parts));
  }
  const ordered = Array.from({ length: count }, (_, index) => vectors.get(index));
  const [first] = ordered;
  return ordered.map((vector) => {
    if (vector === undefined || vector.length === 0 || vector.length !== first?.length) {
      throw new Error(`its answer does not have ${count} embeddings of one length`);
    }
    return vector;
  });
}

/** How long the endpoint is not asked after it has failed. */
const REST_MS = 30_000;
/** A request has at most 8 texts, and the longest embeddings have a few thousand numbers. */
const MAX_NUMBERS = 200_000;
const MAX_BYTES = 8 * 1024 * 1024;
