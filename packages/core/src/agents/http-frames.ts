import { type Issue, type Json, LineSplitter, type Outcome, reject, SseParser } from '@dragoman/protocols';
import { MAX_FRAME_BYTES } from './agent-frame.ts';

export type FrameReader = (body: AsyncIterable<Uint8Array>, read: ReadFrame) => AsyncIterable<Outcome<Json>>;

export type ReadFrame = (source: Uint8Array | string) => Outcome<Json> | Promise<Outcome<Json>>;

type Frames = AsyncGenerator<Outcome<Json>, void, undefined>;

/** The reader for a body of this content type; `undefined` for a type without frames. */
export function frameReaderFor(contentType: string | undefined): FrameReader | undefined {
  const type = (contentType ?? 'application/json').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return Object.hasOwn(READERS, type) ? READERS[type] : undefined;
}

/** The accepted content types, best first. */
export const ACCEPT = 'application/x-ndjson, text/event-stream;q=0.9, application/json;q=0.8';

async function* one(body: AsyncIterable<Uint8Array>, read: ReadFrame): Frames {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    length += part.length;
    if (length > MAX_FRAME_BYTES) return yield reject(TOO_LARGE);
    parts.push(part);
  }
  // An empty body counts as no answer, not as an invalid frame.
  if (length > 0) yield await read(Buffer.concat(parts, length));
}

async function* lines(body: AsyncIterable<Uint8Array>, read: ReadFrame): Frames {
  const splitter = new LineSplitter({ maxLineBytes: MAX_FRAME_BYTES });
  for await (const part of body) {
    for (const line of splitter.push(part)) yield line.ok ? await read(line.value) : line;
  }
  // A last line without a line break is an error, even if it looks complete.
  for (const line of splitter.end()) yield line.ok ? await read(line.value) : line;
}

async function* events(body: AsyncIterable<Uint8Array>, read: ReadFrame): Frames {
  const parser = new SseParser({ maxEventBytes: MAX_FRAME_BYTES });
  for await (const part of body) {
    for (const event of parser.push(part)) yield event.ok ? await read(event.value.data) : event;
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
  message: `expected at most ${MAX_FRAME_BYTES} bytes in an answer; got more`,
  suggestion: 'send the answer in several frames, as application/x-ndjson',
};
