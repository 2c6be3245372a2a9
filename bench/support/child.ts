import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * A process of a benchmark: a file beside it, which reports to its parent when it is ready and ends when disconnected. It runs
 * the packages as they are built: the loader that we run under would cost it half its speed.
 */
export function forkPart(file: URL, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  return fork(fileURLToPath(file), args, {
    execArgv: [],
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

export function nextMessage<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    const fail = (code: number | null) => reject(new Error(`a process of the benchmark ended with ${code}`));
    child.once('exit', fail);
    child.once('message', (message) => {
      child.off('exit', fail);
      resolve(message as Message);
    });
  });
}

/** Lets them all end, also those that have ended by themselves. */
export async function endAll(children: readonly ChildProcess[]): Promise<void> {
  for (const child of children) if (child.connected) child.disconnect();
  await Promise.all(children.map(ended));
}

function ended(child: ChildProcess): Promise<unknown> {
  const isOver = child.exitCode !== null || child.signalCode !== null;
  return isOver ? Promise.resolve() : new Promise((resolve) => child.once('exit', resolve));
}
