import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../ports/ports.ts';
import { forgetChild, killGroup, recordChild } from './orphans.ts';

/** A program of the operator's in its own process group. */
export interface Child {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the program has ended. The other processes of its group are killed with it. */
  readonly exited: Promise<Exit>;
  /** Ends the program. `patienceMs`: how long it may take to exit after the end of its input. Default: 5000. */
  end(options?: { readonly patienceMs?: number }): Promise<void>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * Starts a program without a shell, and with only PATH and HOME from our environment. Its standard input ends when this
 * process ends, which tells it to exit. Throws a worded error when it cannot be started.
 */
export async function startChild({ agentId, command, args, env, cwd, folder, clock }: ChildOptions): Promise<Child> {
  const { PATH, HOME } = process.env;
  const own = { ...(PATH !== undefined && { PATH }), ...(HOME !== undefined && { HOME }) };
  const child = spawn(command, args, {
    env: { ...own, ...env },
    ...(cwd !== undefined && { cwd }),
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(startFault(command, await once(child, 'error')));
  try {
    recordChild({ folder, agentId, pid });
  } catch (error) {
    // A child without a record could outlive this process unnoticed.
    killGroup(pid);
    throw error;
  }
  // Data written to a program that has exited is lost with its other requests; `exited` reports that.
  child.stdin.on('error', () => {});
  child.on('error', () => {});
  const exited = exitOf(child).finally(() => {
    killGroup(pid);
    forgetChild({ folder, pid });
  });
  return {
    pid,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    end: ({ patienceMs = GRACE_MS } = {}) => end(child, exited, { clock, patienceMs }),
  };
}

export interface ChildOptions {
  readonly agentId: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The folder it runs in. Default: that of the server. */
  readonly cwd?: string | undefined;
  /** The folder with the records of running children. */
  readonly folder: string;
  readonly clock: Clock;
}

type Spawned = ChildProcessByStdio<Writable, Readable, Readable>;

function exitOf(child: Spawned): Promise<Exit> {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
}

/** Ends the input, then sends SIGTERM and at last SIGKILL to the whole group, with time after each step to exit. */
async function end(
  child: Spawned,
  exited: Promise<Exit>,
  { clock, patienceMs }: { clock: Clock; patienceMs: number },
): Promise<void> {
  const pid = child.pid as number;
  const isOver = new AbortController();
  void exited.then(() => isOver.abort());
  child.stdin.end();
  const steps = [
    { after: patienceMs, signal: 'SIGTERM' },
    { after: GRACE_MS, signal: 'SIGKILL' },
  ] as const;
  for (const { after, signal } of steps) {
    if (after > 0) await clock.wait(after, isOver.signal).catch(() => {});
    if (isOver.signal.aborted) break;
    killGroup(pid, signal);
  }
  await exited;
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
}

function startFault(command: string, [error]: unknown[]): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `program not found: ${JSON.stringify(command)}`;
  if (code === 'EACCES') return `${JSON.stringify(command)} may not be run`;
  return `${JSON.stringify(command)} cannot be started (${code ?? 'unknown reason'})`;
}

const GRACE_MS = 5000;
