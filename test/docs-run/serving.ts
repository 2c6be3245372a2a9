import {
  type ChildProcessByStdio,
  type SpawnOptionsWithStdioTuple,
  type StdioNull,
  type StdioPipe,
  spawn,
} from 'node:child_process';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { differenceInText } from './same-output.ts';

/** Something a page starts and leaves running in its own terminal. */
export class Serving {
  /** As written on the page: a server of ours, or anything else. */
  readonly usualPort: string;
  readonly #command: string;
  readonly #options: Options;
  #child: ChildProcessByStdio<null, Readable, Readable>;
  #ended: Promise<void>;
  #printed = '';

  constructor(command: string, options: Options) {
    // On the usual port it would be in the way of the reader's own, and of other tests.
    const isOurs = /\bnpx dragoman (?:dev|serve)\b/.test(command);
    this.usualPort = isOurs ? '7420' : '8420';
    this.#command = isOurs ? `${command} --port 0` : command;
    this.#options = { ...options, env: { ...options.env, PORT: '0' } };
    [this.#child, this.#ended] = this.#start();
  }

  /** Waits until it reports that it listens. Returns the port of a server. */
  async ready(): Promise<string | undefined> {
    for (const giveUp = Date.now() + 50_000; Date.now() < giveUp; await pause(20)) {
      const port = /(?:ready|listening|listens) at http:\/\/127\.0\.0\.1:(\d+)/.exec(this.#printed)?.[1];
      if (port !== undefined) return port;
      if (/^listening\b/m.test(this.#printed)) return undefined;
      // Another reader of the same page may have the one port that is not free to choose.
      if (this.#child.exitCode === null) continue;
      if (!this.#printed.includes('EADDRINUSE')) break;
      await pause(500);
      [this.#child, this.#ended] = this.#start();
    }
    throw new Error(`${this.#command} did not get ready:\n${this.#printed}`);
  }

  /** Waits until its last lines are those. */
  async prints(shown: string): Promise<void> {
    let difference: string | undefined = '';
    for (const giveUp = Date.now() + 60_000; Date.now() < giveUp && difference !== undefined; await pause(20)) {
      difference = differenceInText(`…\n${shown}`, this.#printed);
    }
    if (difference !== undefined) throw new Error(difference);
  }

  /** As Ctrl-C does. */
  async stop(): Promise<void> {
    this.#child.kill('SIGINT');
    const forced = setTimeout(() => this.#child.kill('SIGKILL'), 15_000);
    await this.#ended;
    clearTimeout(forced);
  }

  #start(): [ChildProcessByStdio<null, Readable, Readable>, Promise<void>] {
    this.#printed = '';
    const child = spawn('bash', ['-c', `exec env ${this.#command}`], this.#options);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk) => {
        this.#printed += chunk;
      });
    }
    return [child, new Promise((ended) => child.once('close', () => ended()))];
  }
}

type Options = SpawnOptionsWithStdioTuple<StdioNull, StdioPipe, StdioPipe>;
