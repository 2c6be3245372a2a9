import { unreachable } from '../attempt.ts';
import { DragomanError } from '../dragoman-error.ts';
import { Lines } from '../lines.ts';
import type { LinkHandlers, WireLink, WireTransport } from './wire-transport.ts';

/**
 * Bytes both ways: the standard output and input of a program, or a socket. Node's own streams fit as they are:
 * `{ input: child.stdout, output: child.stdin }`, or a `net.Socket` as both.
 */
export interface ByteStreams {
  readonly input: AsyncIterable<Uint8Array>;
  readonly output: {
    write(text: string): unknown;
    end(): unknown;
  };
}

/** Plain NDJSON over byte streams. A function that opens them is called again when a connection broke. */
export function streamWire(open: ByteStreams | (() => ByteStreams | Promise<ByteStreams>)): WireTransport {
  let isUsed = false;
  return {
    async open(handlers) {
      if (typeof open === 'function') return linkOver(await open(), handlers);
      if (isUsed) throw usedUp();
      isUsed = true;
      return linkOver(open, handlers);
    },
  };
}

function linkOver({ input, output }: ByteStreams, handlers: LinkHandlers): WireLink {
  if (isEmitter(input)) listen(input, handlers);
  else void read(input, handlers);
  return {
    send: (text) => void output.write(`${text}\n`),
    close: () => void output.end(),
  };
}

/** Node's streams tell of their bytes with less ado than they hand them over one by one. */
interface Emitter {
  on(event: string, listener: (value: Uint8Array & Error) => void): unknown;
}

function isEmitter(input: object): input is Emitter {
  return 'on' in input && typeof input.on === 'function';
}

function listen(input: Emitter, { onMessage, onClosed }: LinkHandlers): void {
  const lines = new Lines();
  let isClosed = false;
  const close = (why: unknown) => {
    if (isClosed) return;
    isClosed = true;
    onClosed(why instanceof DragomanError ? why : unreachable(WHERE, why));
  };
  input.on('data', (chunk) => {
    try {
      for (const line of lines.push(chunk)) if (line.trim() !== '') onMessage(line);
    } catch (error) {
      close(error);
    }
  });
  for (const event of ['end', 'close']) input.on(event, () => close('the stream ended'));
  input.on('error', close);
}

async function read(input: AsyncIterable<Uint8Array>, { onMessage, onClosed }: LinkHandlers): Promise<void> {
  const lines = new Lines();
  try {
    for await (const chunk of input) for (const line of lines.push(chunk)) if (line.trim() !== '') onMessage(line);
    onClosed(unreachable(WHERE, 'the stream ended'));
  } catch (error) {
    onClosed(error instanceof DragomanError ? error : unreachable(WHERE, error));
  }
}

function usedUp(): DragomanError {
  return new DragomanError({
    code: 'unreachable',
    message: 'The streams have ended, and there are no others.',
    suggestions: ['give streamWire a function that opens new ones'],
  });
}

const WHERE = 'The host at the other end of the stream';
