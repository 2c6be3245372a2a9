import type { Readable } from 'node:stream';
import { isObject, type Json, LineSplitter, ndjsonLine, parseJsonBytes, Vigil } from '@dragoman/protocols';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { type Child, startChild } from '../../agents/child-process.ts';
import { killGroup } from '../../agents/orphans.ts';
import { LimitedLog } from '../../limited-log.ts';
import type { Clock, Log } from '../../ports.ts';
import { NoticeLimit } from './notice-limit.ts';

export interface ChildTransportOptions {
  readonly server: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Where children are written down. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * MCP over the standard input and output of a program that we look after: in a process group of its own, written down so
 * that it never outlives us unseen, ended politely first, and cut off when it floods us.
 */
export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: ChildTransportOptions;
  readonly #log: LimitedLog;
  readonly #vigil = new Vigil(setImmediate);
  #child: Child | undefined;
  #unsent = '';
  #unsentLines = 0;
  /** What is said in the rest of this turn will be written at its end. */
  #isDue = false;

  constructor(options: ChildTransportOptions) {
    this.#options = options;
    const { clock, log, server } = options;
    this.#log = new LimitedLog({ log, clock, fields: { mcp_server: server }, perSecond: 10 });
  }

  async start(): Promise<void> {
    const { server, command, args, env, folder, clock } = this.#options;
    const child = await startChild({ agentId: `mcp:${server}`, command, args, env, folder, clock });
    this.#child = child;
    this.#readErrors(child.stderr);
    this.#read(child);
    void child.exited.then(() => {
      child.stdout.destroy();
      child.stderr.destroy();
      this.onclose?.();
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.sendNow(message);
  }

  /** The same for those who need not wait: throws when it cannot be sent. */
  sendNow(message: JSONRPCMessage): void {
    const child = this.#child;
    if (child === undefined || !child.stdin.writable) throw new Error('the program of the MCP server has ended');
    if (child.stdin.writableLength > MAX_UNSENT) throw new Error('the program of the MCP server does not read');
    // What is said in one turn goes in few writes, for each wakes the program; when there is much, it begins with the first.
    this.#unsent += ndjsonLine(message as Json);
    this.#unsentLines += 1;
    if (this.#unsentLines === MANY) this.#flush(child);
    if (this.#unsentLines === 0 || this.#isDue) return;
    this.#isDue = true;
    process.nextTick(() => {
      this.#isDue = false;
      this.#flush(child);
    });
  }

  async close(): Promise<void> {
    await this.#child?.end();
  }

  #flush({ stdin }: Child): void {
    const text = this.#unsent;
    if (text === '') return;
    this.#vigil.begin({ isAlone: this.#unsentLines === 1 });
    this.#unsent = '';
    this.#unsentLines = 0;
    if (stdin.writable) stdin.write(text);
  }

  #read({ stdout, pid }: Child): void {
    const splitter = new LineSplitter({ maxLineBytes: MAX_LINE_BYTES });
    const onFlood = () => this.#cutOff(pid, 'it flooded us with notifications');
    const notices = new NoticeLimit({ clock: this.#options.clock, onFlood });
    stdout.on('data', (chunk: Uint8Array) => {
      this.#vigil.end();
      for (const line of splitter.push(chunk)) {
        if (line.ok) this.#take(line.value, notices);
        else this.#cutOff(pid, 'it sent a line that is too long');
      }
    });
    // Its end is told by `exited`.
    stdout.on('error', () => {});
  }

  #take(line: Uint8Array, notices: NoticeLimit): void {
    const message = messageIn(line);
    if (message === undefined) {
      this.#log.write('warn', { bytes: line.length }, 'an MCP server wrote what is no message');
      return;
    }
    if (!notices.takes(message)) return;
    this.onmessage?.(message as unknown as JSONRPCMessage);
  }

  #cutOff(pid: number, why: string): void {
    this.#log.write('warn', { error: why }, 'an MCP server is ended');
    killGroup(pid);
  }

  #readErrors(stderr: Readable): void {
    const splitter = new LineSplitter({ maxLineBytes: 4096 });
    stderr.on('data', (chunk: Uint8Array) => {
      for (const line of splitter.push(chunk)) {
        if (line.ok) this.#log.write('info', { line: Buffer.from(line.value).toString() }, 'an MCP server says');
      }
    });
    stderr.on('error', () => {});
  }
}

/** Other programs write numbers that JavaScript rounds; an answer is not lost for that. */
function messageIn(line: Uint8Array): Json | undefined {
  const json = parseJsonBytes(line, { numbers: 'finite' });
  return json.ok && isObject(json.value) ? json.value : undefined;
}

const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Messages that are worth a write of their own. */
const MANY = 4;
const MAX_UNSENT = 32 * 1024 * 1024;
