import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';

/** Why there can be no unix socket at a path. */
export class SocketPathError extends Error {
  readonly code = 'socket_path';
}

/** Makes room for a unix socket. What a server that was killed left there is cleared away; whatever else is there is not. */
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

/** Nothing listens there. A busy listener, or one we may not connect to, counts as listening. */
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

/** `sun_path` of unix(7), with the zero at its end. */
const LONGEST = process.platform === 'linux' ? 107 : 103;
