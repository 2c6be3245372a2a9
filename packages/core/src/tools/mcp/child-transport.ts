import type { Readable } from 'node:stream';
import {
  type Issue,
  isObject,
  type Json,
  type JsonObject,
  LineSplitter,
  ndjsonLine,
  type Outcome,
  reject,
} from '@dragoman/protocols';
import { LimitedLog } from '../../ports/limited-log.ts';
import type { Clock, Log } from '../../ports/ports.ts';
import { type Child, startChild } from '../../processes/child-process.ts';
import { LastWords } from '../../processes/last-words.ts';
import { killGroup } from '../../processes/orphans.ts';
import { InOrder } from '../../worker-threads/in-order.ts';
import type { JsonReader } from '../../worker-threads/json-reader.ts';
import type { McpReceiver, McpTransport } from './mcp-transport.ts';
import { NoticeLimit } from './notice-limit.ts';
import { answeredId, unreadableAnswer } from './unreadable-answer.ts';

export interface ChildTransportOptions {
  readonly server: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The folder that records child processes, so that a later start can end them. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly reader: JsonReader;
}

/**
 * MCP over the standard input and output of a program. It runs in its own process group and is recorded, so that a
 * later start can end it; it is ended politely first, and killed when it floods us.
 */
export class ChildTransport implements McpTransport {
  readonly hasSession = false;
  #receiver: McpReceiver | undefined;
  readonly #options: ChildTransportOptions;
  readonly #log: LimitedLog;
  readonly #lastWords: LastWords;
  /** Long messages are parsed in a thread; later messages wait for them. */
  readonly #order = new InOrder();
  #started: Promise<Child> | undefined;
  #child: Child | undefined;
  #isGreeted = false;
  #unsent = '';
  #unsentLines = 0;
  /** Whether a write at the end of this turn is scheduled. */
  #isDue = false;
  #isCutOff = false;
  #isClosing = false;

  constructor(options: ChildTransportOptions) {
    this.#options = options;
    const { clock, env, log, server } = options;
    this.#lastWords = new LastWords(env);
    this.#log = new LimitedLog({ log, clock, fields: { mcp_server: server }, perSecond: 10 });
  }

  async start(receiver: McpReceiver): Promise<void> {
    this.#receiver = receiver;
    const { server, command, args, env, folder, clock } = this.#options;
    this.#started = startChild({ agentId: `mcp:${server}`, command, args, env, folder, clock });
    const child = await this.#started;
    this.#child = child;
    this.#readErrors(child.stderr);
    this.#read(child);
    // MCP, stdio: stdin and stdout are the connection. A program that closes one of them and continues to run cannot be
    // reached any more.
    let cancel = () => {};
    const onHungUp = () => {
      cancel();
      cancel = clock.after(EXIT_MS, () => {
        // `close` has its own time limit.
        if (!this.#isClosing) this.#cutOff(child.pid, 'it closed its output but did not exit');
      });
    };
    child.stdout.once('end', onHungUp);
    child.stdin.once('error', onHungUp);
    void child.exited.then(async () => {
      cancel();
      child.stdin.off('error', onHungUp);
      await this.#order.waiting;
      child.stdout.destroy();
      // The last output has the reason of the exit, and may still arrive.
      if (!this.#isClosing) await endOf(child.stderr, clock);
      child.stderr.destroy();
      receiver.closed();
    });
  }

  get lastWords(): string {
    return String(this.#lastWords);
  }

  send(message: JsonObject): void {
    const child = this.#child;
    if (child === undefined || !child.stdin.writable) throw new Error('the program of the MCP server has ended');
    if (child.stdin.writableLength > MAX_UNSENT) throw new Error('the program of the MCP server does not read');
    // The messages of one turn are joined into few writes, because each write wakes the program.
    this.#unsent += ndjsonLine(message);
    this.#unsentLines += 1;
    if (this.#unsentLines === MANY) this.#flush(child);
    if (this.#unsentLines === 0 || this.#isDue) return;
    this.#isDue = true;
    process.nextTick(() => {
      this.#isDue = false;
      this.#flush(child);
    });
  }

  useRevision(): void {
    this.#isGreeted = true;
  }

  /** The cancel notification is enough. */
  abandon(): void {}

  async endSession(): Promise<void> {}

  async close(): Promise<void> {
    this.#isClosing = true;
    const child = await this.#started?.catch(() => undefined);
    // A program that has not completed the handshake has no request to finish.
    await child?.end(this.#isGreeted ? {} : { patienceMs: 0 });
  }

  #flush({ stdin }: Child): void {
    const text = this.#unsent;
    if (text === '') return;
    this.#unsent = '';
    this.#unsentLines = 0;
    if (stdin.writable) stdin.write(text);
  }

  #read({ stdout, pid }: Child): void {
    const splitter = new LineSplitter({ maxLineBytes: MAX_LINE_BYTES });
    const onFlood = () => this.#cutOff(pid, 'it sent too many messages');
    const notices = new NoticeLimit({ clock: this.#options.clock, onFlood });
    let blank = 0;
    /** The issue of a line that was too long, until the request that it answers is known. */
    let unreported: Issue | undefined;
    stdout.on('data', (chunk: Uint8Array) => {
      if (this.#isCutOff) return;
      notices.countBytes(chunk.length);
      for (const line of splitter.push(chunk)) {
        if (this.#isCutOff) return;
        if (line.ok) this.#receive(line.value, notices);
        else [unreported] = line.issues;
      }
      const { waiting } = this.#order;
      if (waiting !== undefined) {
        stdout.pause();
        void waiting.then(() => stdout.resume());
      }
      if (unreported !== undefined) {
        const { longLineStart, longLineEnd, isSkipping } = splitter;
        const isReported = this.#tellAsker(longLineStart, isSkipping ? NOTHING : longLineEnd, unreported);
        if (!isReported && !isSkipping) this.#passOver(unreported, notices);
        if (isReported || !isSkipping) unreported = undefined;
      }
      if (splitter.bytesSinceNewline > MAX_SKIPPED_BYTES) this.#cutOff(pid, 'it sent a line that is too long');
      const { blankLines } = splitter;
      if (blankLines > blank) notices.takes(blankLines - blank);
      blank = blankLines;
    });
    // `child.exited` reports the end.
    stdout.on('error', () => {});
  }

  #receive(line: Uint8Array, notices: NoticeLimit): void {
    this.#order.push(this.#messageIn(line), (read) => this.#take(line, read, notices));
  }

  /** Parses a line. Numbers that JavaScript rounds are accepted, because other programs write them. */
  #messageIn(line: Uint8Array): Outcome<Json> | Promise<Outcome<Json>> {
    const { reader, server } = this.#options;
    // Quickly refuses lines that cannot be an object, because the parser's error messages are costly.
    if ((line[0] ?? 0) > SPACE && line[0] !== BRACE) return reject(NO_OBJECT);
    return reader.read(line, { caller: `mcp ${server}`, waits: true, limits: { numbers: 'finite' } });
  }

  #take(line: Uint8Array, json: Outcome<Json>, notices: NoticeLimit): void {
    if (this.#isCutOff) return;
    const read = json.ok && !isObject(json.value) ? reject<JsonObject>(NO_OBJECT) : (json as Outcome<JsonObject>);
    if (!read.ok) {
      const [why = NO_OBJECT] = read.issues;
      if (!this.#tellAsker(line, line, why)) this.#passOver(why, notices);
      return;
    }
    const message = read.value;
    if (message['method'] === undefined && this.#receiver?.awaits(message['id']) === true) {
      notices.countBytes(-line.length);
    } else if (!notices.takes()) return;
    this.#receiver?.take(message);
  }

  /**
   * Rejects the request that an unreadable line answers, because no other answer will arrive. False if there is none.
   */
  #tellAsker(start: Uint8Array, end: Uint8Array, { message: why }: Issue): boolean {
    const id = answeredId(start, end);
    if (id === undefined || this.#receiver?.awaits(id) !== true) return false;
    this.#log.write('warn', { error: why }, 'an MCP server gave an answer that cannot be read');
    this.#receiver.fail(id, unreadableAnswer(why));
    return true;
  }

  #passOver({ message: error }: Issue, notices: NoticeLimit): void {
    notices.takes();
    this.#log.write('warn', { error }, 'an MCP server wrote an invalid message');
  }

  #cutOff(pid: number, why: string): void {
    if (this.#isCutOff) return;
    this.#isCutOff = true;
    const { server, log } = this.#options;
    // Not through the limited log, whose lines the server could use up.
    log.warn({ mcp_server: server, error: why }, 'an MCP server is ended');
    killGroup(pid);
  }

  /** Logs stderr, of which a server may write anything. Beyond a limit, reading pauses for a second. */
  #readErrors(stderr: Readable): void {
    const { clock } = this.#options;
    const splitter = new LineSplitter({ maxLineBytes: 4096 });
    const hear = (chunk: Uint8Array) => {
      for (const line of splitter.push(chunk)) {
        if (!line.ok) continue;
        const text = Buffer.from(line.value).toString();
        this.#lastWords.add(text);
        this.#log.write('info', { stderr: this.#lastWords.withoutSecrets(text) }, 'an MCP server wrote to stderr');
      }
    };
    let bytes = 0;
    let cancel = () => {};
    const readOn = () => {
      bytes = 0;
      stderr.resume();
    };
    stderr.on('data', (chunk: Uint8Array) => {
      bytes += chunk.length;
      if (bytes >= MAX_ERROR_BYTES) {
        stderr.pause();
        cancel = clock.after(1000, readOn);
      }
      hear(chunk);
    });
    stderr.on('end', () => hear(NEWLINE));
    stderr.on('error', () => {});
    stderr.on('close', () => cancel());
  }
}

/** Resolves when the stream has ended, or after a second: a child of the program may keep it open. */
function endOf(stream: Readable, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(EXIT_MS, resolve);
    const over = () => {
      cancel();
      resolve();
    };
    if (stream.closed || stream.isPaused()) over();
    stream.once('close', over).once('pause', over);
  });
}

const NO_OBJECT: Issue = { pointer: '', code: 'type', message: 'expected a JSON object' };
const NOTHING = new Uint8Array(0);
const NEWLINE = Uint8Array.of(0x0a);
const SPACE = 0x20;
const BRACE = 0x7b;
/** Bytes that are read from stderr before a pause of one second. */
const MAX_ERROR_BYTES = 1024 * 1024;
/** How long a program may take to exit after it closed its output. */
const EXIT_MS = 1_000;
const MAX_LINE_BYTES = 8 * 1024 * 1024;
/** How much of a too long line is skipped. Beyond that it is not a message, and the program is ended. */
const MAX_SKIPPED_BYTES = 64 * 1024 * 1024;
/** After this many messages they are written at once. */
const MANY = 4;
const MAX_UNSENT = 32 * 1024 * 1024;
