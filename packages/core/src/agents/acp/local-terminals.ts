import { isObject, type Json, type JsonObject, show } from '@dragoman/protocols';
import type { Clock } from '../../ports/ports.ts';
import { type Child, type Exit, startChild } from '../../processes/child-process.ts';
import { AcpProgramError } from './acp-line.ts';
import { insideFolder } from './inside-folder.ts';

export interface LocalTerminalsOptions {
  readonly agentId: string;
  /** The folder in which commands run, or below which they run. */
  readonly folder: string;
  readonly childrenFolder: string;
  readonly clock: Clock;
}

/** Commands that an agent runs through its client: on this machine, in the folder of the session. */
export class LocalTerminals {
  readonly #options: LocalTerminalsOptions;
  readonly #terminals = new Map<string, Terminal>();
  #made = 0;

  constructor(options: LocalTerminalsOptions) {
    this.#options = options;
  }

  async create({ command, args, env, cwd, outputByteLimit }: JsonObject): Promise<JsonObject> {
    if (typeof command !== 'string' || command === '')
      refused(`command must be a non-empty string; got ${show(command)}.`);
    const { agentId, folder, childrenFolder, clock } = this.#options;
    if (this.#terminals.size >= MOST_TERMINALS) refused(`A session has at most ${MOST_TERMINALS} terminals at once.`);
    const there = cwd === undefined || cwd === null ? folder : insideFolder(String(cwd), [folder]);
    if (there === undefined) return refused(`cwd must be ${folder} or a folder below it; got ${show(cwd)}.`);
    const words = Array.isArray(args) ? args.filter((word) => typeof word === 'string') : [];
    // goose sends a whole line for a shell as the command.
    const line = words.length > 0 ? [command, ...words] : ['/bin/sh', '-c', command];
    const started = startChild({
      agentId,
      command: '/bin/sh',
      args: ['-c', WITH_LIFELINE, 'sh', ...line],
      env: variablesIn(env),
      cwd: there,
      folder: childrenFolder,
      clock,
    });
    const child = await started.catch((error: Error) => refused(`The command cannot be started: ${error.message}.`));
    const limit = typeof outputByteLimit === 'number' && outputByteLimit >= 0 ? outputByteLimit : MOST_BYTES;
    const id = `terminal-${++this.#made}`;
    this.#terminals.set(id, new Terminal(child, Math.min(limit, MOST_BYTES)));
    return { terminalId: id };
  }

  output({ terminalId }: JsonObject): JsonObject {
    return this.#terminal(terminalId).shown;
  }

  async waitForExit({ terminalId }: JsonObject): Promise<JsonObject> {
    return statusOf(await this.#terminal(terminalId).exited);
  }

  async kill({ terminalId }: JsonObject): Promise<JsonObject> {
    await this.#terminal(terminalId).child.end({ patienceMs: 0 });
    return {};
  }

  async release({ terminalId }: JsonObject): Promise<JsonObject> {
    const { child } = this.#terminal(terminalId);
    this.#terminals.delete(String(terminalId));
    await child.end({ patienceMs: 0 });
    return {};
  }

  /** Ends every command that still runs. */
  async end(): Promise<void> {
    const open = [...this.#terminals.values()];
    this.#terminals.clear();
    await Promise.all(open.map(({ child }) => child.end({ patienceMs: 0 })));
  }

  #terminal(id: Json | undefined): Terminal {
    return this.#terminals.get(String(id)) ?? refused(`There is no terminal ${show(id)}.`, NOT_FOUND);
  }
}

/** A command and the end of what it has printed. */
class Terminal {
  readonly child: Child;
  /** Resolves when the command has ended and its whole output was received. */
  readonly exited: Promise<Exit>;
  readonly #limit: number;
  #output = Buffer.alloc(0);
  #isTruncated = false;
  #exit: Exit | undefined;

  constructor(child: Child, limit: number) {
    this.child = child;
    this.#limit = limit;
    const printed = [child.stdout, child.stderr].map((stream) => {
      stream.on('data', (chunk: Buffer) => this.#add(chunk));
      return new Promise<void>((resolve) => stream.once('close', resolve));
    });
    this.exited = Promise.all(printed).then(() => child.exited);
    void this.exited.then((exit) => {
      this.#exit = exit;
    });
  }

  get shown(): JsonObject {
    return {
      output: this.#output.toString(),
      truncated: this.#isTruncated,
      ...(this.#exit !== undefined && { exitStatus: statusOf(this.#exit) }),
    };
  }

  /** ACP: output is truncated from the beginning, at a character boundary. */
  #add(chunk: Buffer): void {
    const all = Buffer.concat([this.#output, chunk]);
    let from = Math.max(0, all.length - this.#limit);
    if (from > 0) this.#isTruncated = true;
    while (from > 0 && from < all.length && (all[from] as number) >> 6 === 0b10) from += 1;
    this.#output = all.subarray(from);
  }
}

function statusOf({ code, signal }: Exit): JsonObject {
  return { exitCode: code, signal };
}

function variablesIn(env: Json | undefined): Record<string, string> {
  const pairs = Array.isArray(env) ? env.filter(isObject) : [];
  return Object.fromEntries(pairs.map(({ name, value }) => [String(name), String(value)]));
}

function refused(message: string, code = -32602): never {
  throw new AcpProgramError(code, message, null);
}

/**
 * Runs a command without input. The shell's own input is open as long as this process runs; when it ends, the command and all processes of
 * its group are killed. The second is for a command that is being ended politely.
 */
const WITH_LIFELINE = 'exec 3<&0 </dev/null; { read -r _ <&3; sleep 1; kill -9 0; } >/dev/null 2>&1 & exec "$@" 3<&-';
const MOST_TERMINALS = 16;
const MOST_BYTES = 1024 * 1024;
const NOT_FOUND = -32002;
