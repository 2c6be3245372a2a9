import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { SseParser } from '../../packages/protocols/src/framing/sse-parser.ts';

export interface CallOptions {
  readonly method?: string;
  readonly path: string;
  readonly key?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** A body as it is. */
  readonly text?: string;
}

/** One HTTP request on its own connection. Resolves when the headers of the answer are there. */
export function call(url: string, options: CallOptions): Promise<HttpAnswer> {
  const { method = 'GET', path, key, accept, json, text } = options;
  const body = json === undefined ? text : JSON.stringify(json);
  const headers = {
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(accept === undefined ? {} : { accept }),
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    ...options.headers,
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(path, url), { method, headers, agent: false });
    outgoing.once('response', (message) => resolve(new HttpAnswer(message)));
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

/** An answer, read as a whole or frame by frame. */
export class HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly message: IncomingMessage;

  constructor(message: IncomingMessage) {
    this.status = message.statusCode ?? 0;
    this.headers = message.headers;
    this.message = message;
    // An answer that breaks off is an error for its reader only.
    message.on('error', () => {});
  }

  async bytes(): Promise<Buffer> {
    return Buffer.concat(await this.message.toArray());
  }

  async text(): Promise<string> {
    return (await this.bytes()).toString('utf8');
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  /** The text of each frame as it arrives, whatever the framing. Throws when the answer breaks off. */
  async *frames(): AsyncGenerator<string> {
    const type = this.headers['content-type'];
    if (this.status !== 200) throw new Error(`${this.status}: ${await this.text()}`);
    if (type === 'text/event-stream') yield* this.#eventFrames();
    else if (type === 'application/x-ndjson') yield* lines(this.message);
    else yield await this.text();
  }

  async *#eventFrames(): AsyncGenerator<string> {
    for await (const { id, data } of this.events()) {
      if (String(JSON.parse(data).sequence) !== id) throw new Error('the id of an event is not its sequence');
      yield data;
    }
  }

  /** The events of an SSE answer as they come, each with its id. */
  async *events(): AsyncGenerator<{ readonly id: string; readonly data: string }> {
    const parser = new SseParser();
    for await (const chunk of this.message) {
      for (const event of parser.push(chunk)) {
        if (!event.ok) throw new Error(JSON.stringify(event.issues));
        yield { id: event.value.lastEventId, data: event.value.data };
      }
    }
  }

  /** Breaks off. */
  destroy(): void {
    this.message.destroy();
  }
}

/** Every frame of an answer. */
export async function allFrames(answer: HttpAnswer): Promise<string[]> {
  const frames: string[] = [];
  for await (const frame of answer.frames()) frames.push(frame);
  return frames;
}

async function* lines(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  for await (const chunk of source) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...parts, chunk.subarray(start, end)]).toString('utf8');
      parts = [];
      start = end + 1;
      if (line !== '') yield line;
    }
    parts.push(chunk.subarray(start));
  }
}
