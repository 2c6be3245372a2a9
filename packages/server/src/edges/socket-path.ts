import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';

/** Why no unix socket can listen at a path. */
export class SocketPathError extends Error {
  readonly code = 'socket_path';
}

/** Makes room for a unix socket: removes the socket that a killed server left, and nothing else. */
export async function clearSocketPath(path: string): Promise<void> {
  const bytes = Buffer.byteLength(path);
  if (bytes > LONGEST) {
    // Node would truncate it, and listen at another path.
    throw new SocketPathError(
      `the path of a unix socket may have at most ${LONGEST} bytes; ${path} has ${bytes}: use a shorter path`,
    );
  }
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return;
    if (!found.isSocket()) throw new SocketPathError(`${path} exists and is not a socket`);
    if (await isDead(path)) rmSync(path, { force: true });
  } catch (error) {
    if (error instanceof SocketPathError) throw error;
    throw new SocketPathError(`a socket cannot be created at ${path}: ${(error as Error).message}`);
  }
}

/** Whether nothing listens at the path. A busy listener, or one that refuses us access, counts as listening. */
function isDead(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(false);
    });
    probe.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' || code === 'ENOENT'));
  });
}

/** The length of `sun_path` in unix(7), without the zero at its end. */
const LONGEST = process.platform === 'linux' ? 107 : 103;
