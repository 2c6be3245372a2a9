import {
  type Issue,
  type Json,
  NdjsonReader,
  type Outcome,
  parseJson,
  parseJsonBytes,
  reject,
  SseParser,
} from '@dragoman/protocols';
import { MAX_FRAME_BYTES } from './agent-frame.ts';

/** Reads the frames out of a body. */
export type FrameReader = (body: AsyncIterable<Uint8Array>) => AsyncIterable<Outcome<Json>>;

/** How to read a body of this content type; `undefined` for one that holds no frames. */
export function frameReaderFor(contentType: string | undefined): FrameReader | undefined {
  const type = (contentType ?? 'application/json').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return Object.hasOwn(READERS, type) ? READERS[type] : undefined;
}

/** What to ask for, best first. */
export const ACCEPT = 'application/x-ndjson, text/event-stream;q=0.9, application/json;q=0.8';

async function* one(body: AsyncIterable<Uint8Array>): AsyncGenerator<Outcome<Json>, void, undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    length += part.length;
    if (length > MAX_FRAME_BYTES) return yield reject(TOO_LARGE);
    parts.push(part);
  }
  // Nothing at all is no bad frame but no answer.
  if (length > 0) yield parseJsonBytes(Buffer.concat(parts, length));
}

async function* lines(body: AsyncIterable<Uint8Array>): AsyncGenerator<Outcome<Json>, void, undefined> {
  const reader = new NdjsonReader({ maxLineBytes: MAX_FRAME_BYTES });
  for await (const part of body) yield* reader.push(part);
  yield* reader.end();
}

async function* events(body: AsyncIterable<Uint8Array>): AsyncGenerator<Outcome<Json>, void, undefined> {
  const parser = new SseParser({ maxEventBytes: MAX_FRAME_BYTES });
  for await (const part of body) {
    for (const event of parser.push(part)) yield event.ok ? parseJson(event.value.data) : event;
  }
}

const READERS: Readonly<Record<string, FrameReader>> = {
  'application/json': one,
  'application/x-ndjson': lines,
  'application/ndjson': lines,
  'application/jsonl': lines,
  'text/event-stream': events,
};

const TOO_LARGE: Issue = {
  pointer: '',
  code: 'too_large',
  message: `expected at most ${MAX_FRAME_BYTES} bytes in an answer; more came`,
  suggestion: 'send the answer in several frames, as application/x-ndjson',
};
