import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One thing a process did, when the kernel was done with it. */
export interface Deed {
  readonly kind: 'socket-read' | 'socket-write' | 'log-write' | 'log-sync';
  /** What was read or written, as strace prints it. */
  readonly text: string;
  /** Of the kernel's: that of the main thread is the process's. */
  readonly thread: number;
}

/** Looks over the shoulder of a process: what it reads and writes on sockets, and what it writes and syncs in the store. */
export class Strace implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
  }

  /** Attaches to a process, or gives the reason why it cannot. */
  static async attach(pid: number): Promise<Strace | string> {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-strace-'));
    const calls = 'trace=read,recvfrom,write,writev,sendto,sendmsg,pwrite64,fsync,fdatasync';
    const child = spawn(
      'strace',
      ['-f', '-yy', '-s', '8192', '-e', calls, '-o', join(folder, 'trace'), '-p', `${pid}`],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    let output = '';
    const attached = new Promise<boolean>((resolve) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (output.includes(' attached')) resolve(true);
      });
      child.once('error', (error) => {
        output = error.message;
        resolve(false);
      });
      child.once('close', () => resolve(false));
    });
    if (await attached) return new Strace(child, folder);
    rmSync(folder, { recursive: true, force: true });
    return output.trim();
  }

  /** Everything so far, in the order in which it was over. */
  async deeds(): Promise<Deed[]> {
    await this[Symbol.asyncDispose](false);
    const deeds = readDeeds(readFileSync(join(this.#folder, 'trace'), 'utf8'));
    rmSync(this.#folder, { recursive: true, force: true });
    return deeds;
  }

  async [Symbol.asyncDispose](forget = true): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGINT');
      await once(this.#child, 'close');
    }
    if (forget) rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** strace prints a call that another thread interrupts in two lines: the call, and its result. */
function readDeeds(trace: string): Deed[] {
  const unfinished = new Map<string, string>();
  const deeds: Deed[] = [];
  for (const line of trace.split('\n')) {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    if (rest.endsWith('<unfinished ...>')) {
      unfinished.set(thread, rest.slice(0, -'<unfinished ...>'.length));
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    const deed = deedOf(resumed === null ? rest : `${unfinished.get(thread) ?? ''}${resumed[1]}`);
    if (deed !== undefined) deeds.push({ ...deed, thread: Number(thread) });
  }
  return deeds;
}

function deedOf(call: string): Omit<Deed, 'thread'> | undefined {
  const [, name = '', file = ''] = /^(\w+)\(\d+<([^>]*(?:>[^>]*)?)>/.exec(call) ?? [];
  const result = Number(/= (-?\d+)/.exec(call.slice(call.lastIndexOf(')')))?.[1] ?? -1);
  if (result < 0) return undefined;
  if (call.includes('dragoman.db-wal')) {
    if (name === 'fsync' || name === 'fdatasync') return { kind: 'log-sync', text: call };
    return name === 'read' ? undefined : { kind: 'log-write', text: call };
  }
  if (!file.startsWith('TCP')) return undefined;
  return { kind: name === 'read' || name === 'recvfrom' ? 'socket-read' : 'socket-write', text: call };
}
