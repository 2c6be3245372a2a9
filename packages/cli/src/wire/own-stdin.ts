import { fstatSync } from 'node:fs';
import { type ConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';
import type { Readable } from 'node:stream';

/**
 * The bytes of stdin, for a reader that processes each chunk synchronously, because one buffer is reused for all
 * chunks. Listeners must be added at once: reading starts in the next turn of the event loop.
 */
export function ownStdin(): Readable {
  if (!isPipe()) return process.stdin;
  // The option is documented for `connect`, and the constructor takes it, too.
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

/** Whether stdin is a pipe or a socket. Files and terminals are read differently. */
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
