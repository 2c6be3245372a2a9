import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { LineSplitter } from '@dragoman/protocols';
import type { PROC_STATES, ProcStatus } from '@dragoman/protocols/a2e-wire';
import type { Cancel, Clock } from '../../ports/ports.ts';
import { type Child, startChild } from '../../processes/child-process.ts';
import { killGroup } from '../../processes/orphans.ts';

export interface ProcRunOptions {
  readonly id: string;
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The working folder, removed when the process has ended. */
  readonly folder: string;
  /** The folder that records child processes, so that a later start can end them. */
  readonly children: string;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly onOutput: (output: ProcOutput) => void;
  /** Called when its folder cannot be removed. */
  readonly onNotRemoved: (error: unknown) => void;
}

export interface ProcOutput {
  readonly stream: 'stdout' | 'stderr';
  readonly data: { readonly text: string } | { readonly code: number | null };
}

type ProcState = (typeof PROC_STATES)[number];

/**
 * One program that an agent started, in its own process group and with a time limit. Its output is reported line by
 * line.
 */
export class ProcRun {
  readonly #options: ProcRunOptions;
  readonly #child: Child;
  readonly #startedAt: number;
  #state: ProcState = 'running';
  #exitCode: number | null = null;
  #killedBy: ProcState | undefined;
  #left: number;
  #cancelTimeout: Cancel = () => {};
  /** Resolves when the program has ended and all its output is reported. */
  readonly over: Promise<void>;

  private constructor(options: ProcRunOptions, child: Child) {
    this.#options = options;
    this.#child = child;
    this.#startedAt = options.clock.now().getTime() / 1000;
    this.#left = options.maxOutputBytes;
    this.#cancelTimeout = options.clock.after(options.timeoutMs, () => this.#stop('timedout'));
    this.over = this.#run();
  }

  /** Starts the program. Throws an error for the agent if that fails. */
  static async start(options: ProcRunOptions): Promise<ProcRun> {
    const { name, command, args, env, folder, children, clock } = options;
    const own = { ...env, HOME: folder };
    const child = await startChild({
      agentId: `proc ${name}`,
      command,
      args,
      env: own,
      cwd: folder,
      folder: children,
      clock,
    });
    return new ProcRun(options, child);
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  get pid(): number {
    return this.#child.pid;
  }

  get status(): ProcStatus {
    const { id: proc_id, name, args } = this.#options;
    const cmd = [name, ...args].join(' ');
    return { proc_id, cmd, state: this.#state, pid: this.pid, exit_code: this.#exitCode, started_at: this.#startedAt };
  }

  get state(): ProcState {
    return this.#state;
  }

  write(data: string, eof: boolean): void {
    if (data !== '') this.#child.stdin.write(data);
    if (eof) this.#child.stdin.end();
  }

  /** Bytes of its input that the program has not read yet. */
  get unread(): number {
    return this.#child.stdin.writableLength;
  }

  /** Sends a signal to the whole process group. */
  signal(name: NodeJS.Signals): boolean {
    if (!this.isRunning) return false;
    this.#killedBy = 'killed';
    return killGroup(this.pid, name);
  }

  /** Kills the program and all that it has started. */
  async kill(): Promise<void> {
    this.#stop('killed');
    await this.over;
  }

  #stop(why: ProcState): void {
    if (!this.isRunning) return;
    this.#killedBy = why;
    killGroup(this.pid);
  }

  async #run(): Promise<void> {
    const { stdout, stderr, exited } = this.#child;
    const reported = [this.#emit(stdout, 'stdout'), this.#emit(stderr, 'stderr')];
    const { code, signal } = await exited;
    this.#cancelTimeout();
    // A child that left the process group may keep the pipes open forever.
    const cancel = this.#options.clock.after(LAST_WORDS_MS, () => {
      for (const stream of [stdout, stderr]) stream.destroy();
    });
    await Promise.all(reported);
    cancel();
    this.#exitCode = code;
    const ended = code === 0 ? 'completed' : 'failed';
    this.#state = signal === null ? (this.#killedBy === 'timedout' ? 'timedout' : ended) : (this.#killedBy ?? 'failed');
    this.#options.onOutput({ stream: code === 0 ? 'stdout' : 'stderr', data: { code } });
    // A program can make folders that cannot be removed. The next start of the server tries again.
    await rm(this.#options.folder, { recursive: true, force: true }).catch(this.#options.onNotRemoved);
  }

  /** Reports a stream line by line. Output beyond the limit is read and dropped, so that the program does not block. */
  async #emit(from: Readable, stream: ProcOutput['stream']): Promise<void> {
    const splitter = new LineSplitter({ maxLineBytes: LONGEST_LINE });
    const emit = (lines: ReturnType<LineSplitter['push']>) => {
      for (const line of lines) this.#line(stream, line.ok ? Buffer.from(line.value).toString() : TOO_LONG);
    };
    from.on('data', (chunk: Uint8Array) => emit(splitter.push(chunk)));
    await once(from, 'close').catch(() => {});
    emit(splitter.push(LINE_BREAK));
  }

  #line(stream: ProcOutput['stream'], text: string): void {
    if (this.#left < 0) return;
    this.#left -= Buffer.byteLength(text) + 1;
    if (this.#left >= 0) this.#options.onOutput({ stream, data: { text } });
    else {
      const { maxOutputBytes } = this.#options;
      const words = `[dragoman] Output past ${maxOutputBytes} bytes is left out; wire.proc.max_output_bytes sets the limit.`;
      this.#options.onOutput({ stream: 'stderr', data: { text: words } });
    }
  }
}

const LAST_WORDS_MS = 1_000;
const LONGEST_LINE = 64 * 1024;
const TOO_LONG = `[dragoman] A line of more than ${LONGEST_LINE} bytes is left out.`;
const LINE_BREAK = Uint8Array.of(0x0a);
