import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type E2AEnvelope, LineSplitter, ndjsonLine } from '@dragoman/protocols';
import type { Call } from '../call/call.ts';
import { unlessAborted } from '../ending/until-aborted.ts';
import { LimitedLog } from '../ports/limited-log.ts';
import type { Clock, Ids, Log, LogFields } from '../ports/ports.ts';
import { type Child, type Exit, startChild } from '../processes/child-process.ts';
import { LastWords } from '../processes/last-words.ts';
import { killGroup } from '../processes/orphans.ts';
import { Backoff } from '../time/backoff.ts';
import type { ReadVariables } from '../vault/references.ts';
import { JsonReader } from '../worker-threads/json-reader.ts';
import { type Agent, type AgentPart, agentFailed } from './agent.ts';
import { EXCERPT_LENGTH, MAX_FRAME_BYTES, READ_PAST_LIMIT } from './agent-frame.ts';
import { type OnPush, SharedLine } from './shared-line.ts';

/**
 * An agent that is a program: envelopes go to its standard input, one a line, and its frames are read from its standard
 * output, one a line, each naming the request it answers. Its standard error is logged.
 *
 * The first request starts the program, so that a server with many agents starts quickly. From then on it is kept running:
 *
 *   idle ──a request──▶ running ──ends by itself, with 0 and nothing to answer──▶ idle
 *                        │   ▲
 *              it fails  ▼   │ after 1, 2, 4 … 60 s
 *                       waiting
 */
export class StdioAgent implements Agent {
  readonly id: string;
  readonly #options: StdioAgentOptions;
  readonly #backoff = new Backoff();
  readonly #log: LimitedLog;
  readonly #reader: JsonReader;
  readonly #stopped = new AbortController();
  /** The running program, or its pending start. */
  #current: Promise<SharedLine | AgentPart> | undefined;
  #startsAt = 0;
  #child: Child | undefined;
  #lastFault = 'failed';

  constructor(options: StdioAgentOptions) {
    this.id = options.id;
    this.#options = options;
    const { clock, log, id, reader = new JsonReader() } = options;
    this.#reader = reader;
    this.#log = new LimitedLog({ log, clock, fields: { agent: id }, perSecond: 50 });
  }

  async *answer(envelope: E2AEnvelope, call: Call): AsyncGenerator<AgentPart, void, undefined> {
    const line = await unlessAborted(this.#line(), call.signal);
    if (line instanceof SharedLine) yield* line.answer(envelope, call);
    else yield line;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    await this.#current;
    await this.#child?.end();
  }

  #line(): Promise<SharedLine | AgentPart> {
    if (this.#stopped.signal.aborted) return Promise.resolve(STOPPED);
    const left = this.#startsAt - this.#options.clock.elapsed();
    if (this.#current !== undefined && left > PATIENCE_MS) {
      const seconds = Math.ceil(left / 1000);
      const message = `The agent's program ${this.#lastFault}; it is started again in ${seconds} s.`;
      return Promise.resolve(agentFailed(message, { retry_after: seconds }));
    }
    this.#current ??= this.#start(0);
    return this.#current;
  }

  async #start(delay: number): Promise<SharedLine | AgentPart> {
    const { clock, id, command, args, env, folder } = this.#options;
    this.#startsAt = clock.elapsed() + delay;
    try {
      if (delay > 0) await clock.wait(delay, this.#stopped.signal);
      const variables = await env();
      const options = { agentId: id, command, args, env: variables, clock, folder: childrenFolder(folder) };
      const child = await startChild(options);
      this.#child = child;
      return this.#attend(child, new LastWords(variables));
    } catch (error) {
      if (this.#stopped.signal.aborted) return STOPPED;
      this.#failed('could not be started', { reason: error instanceof Error ? error.message : String(error) });
      return agentFailed(`The agent's program ${this.#lastFault}.`);
    }
  }

  /** Serves a program until it ends. */
  #attend(child: Child, lastWords: LastWords): SharedLine {
    const { clock, ids, log, id, onPush } = this.#options;
    const sender = {
      send: (envelope: Parameters<typeof ndjsonLine>[0]) => void child.stdin.write(ndjsonLine(envelope)),
      get unsentBytes() {
        return child.stdin.writableLength;
      },
    };
    const line = new SharedLine({ agentId: id, sender, clock, ids, log, onPush });
    const startedAt = clock.elapsed();
    const frames = this.#readFrames(child, line);
    const read = Promise.all([frames, this.#readErrors(child.stderr, lastWords)]);
    let wasMute = false;
    void frames.then(async () => {
      if (!(await this.#outlives(child))) return;
      wasMute = line.load > 0;
      line.lose(agentFailed("The agent's program closed its output before it had answered."));
      await child.end();
    });
    void child.exited.then(async (exit) => {
      await this.#drained(read, line);
      child.stdout.destroy();
      child.stderr.destroy();
      const isIdle = exit.code === 0 && line.load === 0 && !wasMute;
      const wrote = String(lastWords);
      const fault = wrote === '' ? wordsOf(exit) : `${wordsOf(exit)} (it wrote: ${wrote})`;
      line.lose(agentFailed(`The agent's program ${fault} before it had answered.`));
      if (this.#stopped.signal.aborted) return;
      // The program worked for a while, so the backoff starts over.
      if (line.answered > 0 || clock.elapsed() - startedAt >= STEADY_MS) this.#backoff.reset();
      if (isIdle) this.#current = undefined;
      else this.#failed(fault);
    });
    return line;
  }

  /** Whether a program keeps running after it has closed its output. It can then answer nothing more. */
  async #outlives({ exited }: Child): Promise<boolean> {
    const gone = new AbortController();
    void exited.then(() => gone.abort());
    return this.#options.clock.wait(DRAIN_MS, AbortSignal.any([gone.signal, this.#stopped.signal])).then(
      () => true,
      () => false,
    );
  }

  /** Starts the program again after a delay. `reason` may name files of the operator, so it is only logged. */
  #failed(fault: string, reason: LogFields = {}): void {
    const delay = this.#backoff.next();
    this.#lastFault = fault;
    const { log, id } = this.#options;
    log.warn(
      { agent: id, error: fault, ...reason, delay_ms: delay },
      "the agent's program failed; it will be started again",
    );
    this.#current = this.#start(delay);
  }

  async #readFrames({ stdout, pid }: Child, line: SharedLine): Promise<void> {
    const splitter = new LineSplitter({ maxLineBytes: MAX_FRAME_BYTES });
    try {
      for await (const chunk of stdout) {
        for (const text of splitter.push(chunk as Uint8Array)) {
          const frame = text.ok
            ? await this.#reader.read(text.value, { caller: `agent ${this.id}`, waits: true })
            : text;
          const start = text.ok ? text.value.subarray(0, EXCERPT_LENGTH) : splitter.longLineStart;
          const excerpt = frame.ok ? '' : Buffer.from(start).toString();
          line.receive(frame, { bytes: text.ok ? text.value.length : 0, excerpt });
        }
        // An endless line is not a message, and the program cannot recover from it.
        if (splitter.bytesSinceNewline > MAX_FRAME_BYTES * READ_PAST_LIMIT) killGroup(pid);
        await line.room();
      }
    } catch {
      // The pipe broke: the program has ended or is about to.
    }
  }

  async #readErrors(stderr: Readable, lastWords: LastWords): Promise<void> {
    const splitter = new LineSplitter({ maxLineBytes: MAX_ERROR_LINE_BYTES });
    try {
      for await (const chunk of stderr) {
        for (const text of splitter.push(chunk as Uint8Array)) {
          const line = text.ok ? Buffer.from(text.value.subarray(0, MAX_LOGGED)).toString() : '(a very long line)';
          lastWords.add(line);
          this.#log.write('info', { stderr: lastWords.withoutSecrets(line) }, 'the agent wrote to stderr');
        }
      }
    } catch {
      // The pipe broke, as in `#readFrames`.
    }
    this.#log.flush();
  }

  /**
   * Waits for the output that the program wrote before it ended. A process that left its group may keep the output open forever, so
   * the wait is limited.
   */
  async #drained(read: Promise<unknown>, line: SharedLine): Promise<void> {
    const done = new AbortController();
    void read.then(() => done.abort());
    do await this.#options.clock.wait(DRAIN_MS, done.signal).catch(() => {});
    while (!done.signal.aborted && line.room() !== undefined);
  }
}

/** The folder in which a server records the child processes of its agents. */
export function childrenFolder(folder: string): string {
  return join(folder, 'children');
}

export interface StdioAgentOptions {
  readonly id: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Read at each start of the program. */
  readonly env: ReadVariables;
  readonly folder: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly onPush?: OnPush | undefined;
  readonly reader?: JsonReader | undefined;
}

function wordsOf({ code, signal }: Exit): string {
  return signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
}

const STOPPED = agentFailed('The agent was stopped.');
/** How long a request waits for a program that is about to be started again. */
const PATIENCE_MS = 5000;
const STEADY_MS = 60_000;
const DRAIN_MS = 1000;
const MAX_ERROR_LINE_BYTES = 64 * 1024;
const MAX_LOGGED = 2000;
