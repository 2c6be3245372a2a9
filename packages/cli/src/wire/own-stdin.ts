import { fstatSync } from 'node:fs';
import { type ConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';
import type { Readable } from 'node:stream';

/**
 * The bytes of stdin, for a reader that processes each chunk synchronously: one buffer is reused for all.
 * What Node does by itself, a new piece for each and a queue of them, costs as much as a small call. Listen at once: it reads
 * from the next turn on.
 */
export function ownStdin(): Readable {
  if (!isPipe()) return process.stdin;
  // Documented with `connect`, and taken by the constructor.
  const options: SocketConstructorOpts & ConnectOpts = {
    fd: STDIN,
    readable: true,
    writable: false,
    onread: {
      buffer: Buffer.allocUnsafeSlow(CHUNK_BYTES),
      callback: (length, buffer) => {
        socket.emit('data', buffer.subarray(0, length));
        return true;
      },
    },
  };
  const socket = new Socket(options);
  return socket;
}

/** Files and terminals are read differently. */
function isPipe(): boolean {
  try {
    const stdin = fstatSync(STDIN);
    return stdin.isFIFO() || stdin.isSocket();
  } catch {
    return false;
  }
}

const STDIN = 0;
/** The size of Node's own reads. */
const CHUNK_BYTES = 64 * 1024;
