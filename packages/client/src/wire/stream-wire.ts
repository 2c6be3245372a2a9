import { isObject } from '@dragoman/protocols';
import { unreachable } from '../attempt.ts';
import { DragomanError } from '../dragoman-error.ts';
import { invalidArgument, shown } from '../invalid-argument.ts';
import { Lines } from '../lines.ts';
import { BusyWait } from './busy-wait.ts';
import type { LinkHandlers, WireLink, WireTransport } from './wire-transport.ts';

/**
 * A byte stream each way, such as the standard output and input of a program, or a socket. Node's streams can be used
 * directly: `{ input: child.stdout, output: child.stdin }`, or a `net.Socket` for both.
 */
export interface ByteStreams {
  readonly input: AsyncIterable<Uint8Array>;
  readonly output: {
    write(text: string): unknown;
    end(): unknown;
  };
}

export interface StreamWireOptions {
  /**
   * Keeps the event loop busy for up to half a millisecond after each request, instead of letting the process sleep.
   * For a program that calls quick tools over stdio one at a time: each call takes less time, but waiting uses the
   * processor. Needs Node's `setImmediate`. Default: false.
   */
  readonly busyWait?: boolean;
}

/** Plain NDJSON over byte streams. If `open` is a function, it is called again after a connection broke. */
export function streamWire(
  open: ByteStreams | (() => ByteStreams | Promise<ByteStreams>),
  options: StreamWireOptions = {},
): WireTransport {
  if (!isOpener(open)) {
    throw invalidArgument(
      `streamWire() takes { input, output }, or a function that opens them; got ${shown(open)}`,
      'streamWire({ input: child.stdout, output: child.stdin })',
    );
  }
  let isUsed = false;
  return {
    async open(handlers) {
      if (typeof open === 'function') return linkOver(await opened(open), handlers, options);
      if (isUsed) throw usedUp();
      isUsed = true;
      return linkOver(open, handlers, options);
    },
  };
}

function isOpener(open: unknown): boolean {
  return typeof open === 'function' || (isObject(open) && isObject(open['input']) && isObject(open['output']));
}

/** Opens the streams. The most common failure is that the host does not listen yet. */
async function opened(open: () => ByteStreams | Promise<ByteStreams>): Promise<ByteStreams> {
  try {
    return await open();
  } catch (error) {
    throw error instanceof DragomanError ? error : unreachable(WHERE, error);
  }
}

function linkOver(
  { input, output }: ByteStreams,
  { onMessage, onClosed }: LinkHandlers,
  { busyWait = false }: StreamWireOptions,
): WireLink {
  let isClosed = false;
  const over = (why: unknown) => {
    if (isClosed) return;
    isClosed = true;
    onClosed(why instanceof DragomanError ? why : unreachable(WHERE, why));
  };
  const lines = new Lines();
  // Browsers have no `setImmediate`.
  const { setImmediate: soon } = globalThis as { setImmediate?: (callback: () => void) => unknown };
  const wait = busyWait && soon !== undefined ? new BusyWait(soon) : undefined;
  const take = (chunk: Uint8Array) => {
    wait?.end();
    for (const line of lines.push(chunk)) if (line.trim() !== '') onMessage(line);
  };
  if (isEmitter(input)) listen(input, take, over);
  else void read(input, take, over);
  // A write to a program that has ended fails. Without a listener, the error would end this process.
  if (isEmitter(output)) output.on('error', over);
  let unsent = '';
  let unsentLines = 0;
  const flush = () => {
    if (unsent === '') return;
    const text = unsent;
    unsent = '';
    unsentLines = 0;
    try {
      output.write(text);
      wait?.begin();
    } catch (error) {
      over(error);
    }
  };
  return {
    // The messages of one turn are written together, because each write has a cost. When there are many, they are
    // written in parts, so that the other side can start with the first ones.
    send: (text) => {
      if (unsent === '') queueMicrotask(flush);
      unsent += `${text}\n`;
      unsentLines += 1;
      if (unsentLines === MANY) flush();
    },
    close: () => {
      flush();
      output.end();
    },
  };
}

/** What is used of a Node stream. */
interface Emitter {
  readonly destroyed?: boolean;
  on(event: string, listener: (value: Uint8Array & Error) => void): unknown;
}

function isEmitter(input: object): input is Emitter {
  return 'on' in input && typeof input.on === 'function';
}

function listen(input: Emitter, take: (chunk: Uint8Array) => void, over: (why: unknown) => void): void {
  input.on('data', (chunk) => {
    try {
      take(chunk);
    } catch (error) {
      over(error);
    }
  });
  for (const event of ['end', 'close']) input.on(event, () => over('the stream ended'));
  input.on('error', over);
  // The stream may have ended before the listeners were added.
  if (input.destroyed === true) over('the stream ended');
}

async function read(
  input: AsyncIterable<Uint8Array>,
  take: (chunk: Uint8Array) => void,
  over: (why: unknown) => void,
): Promise<void> {
  try {
    for await (const chunk of input) take(chunk);
    over('the stream ended');
  } catch (error) {
    over(error);
  }
}

function usedUp(): DragomanError {
  return new DragomanError({
    code: 'unreachable',
    message: 'The streams have ended and cannot be reopened.',
    suggestions: ['give streamWire a function that opens new ones'],
  });
}

const WHERE = 'The host at the other end of the stream';

/** The number of lines per write. */
const MANY = 4;
