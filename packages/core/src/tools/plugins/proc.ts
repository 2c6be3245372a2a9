import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonObject, show } from '@dragoman/protocols';
import { isMessage, type MessageOf } from '@dragoman/protocols/a2e-wire';
import type { Clock, Ids, Log } from '../../ports/ports.ts';
import { endOrphans } from '../../processes/orphans.ts';
import type { References } from '../../vault/references.ts';
import { CommandList } from '../proc/command-list.ts';
import type { ProcConfig } from '../proc/proc-config.ts';
import { type ProcOutput, ProcRun } from '../proc/proc-run.ts';
import type { Answered, WireCall, WirePlugin, WireSession } from '../wire/plugin.ts';
import { WireRefused } from '../wire/wire-refused.ts';

export interface ProcPluginOptions {
  readonly config: ProcConfig;
  /** Resolves the variables of the commands. */
  readonly references: References;
  /** The folder that contains the working folders of the processes. */
  readonly folder: string;
  /** The folder that records child processes, so that a later start can end them. */
  readonly children: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

/**
 * `proc/*`: programs that the operator lists, with patterns of their arguments. Each runs in its own working folder and
 * process group, and its output is sent line by line as `proc/read/event`. It ends with its timeout, its connection or
 * the server, whichever is first.
 */
export function procPlugin(options: ProcPluginOptions): WirePlugin {
  const processes = new Processes(options);
  return {
    name: 'proc',
    capability: 'proc',
    messages: ['proc/spawn/req', 'proc/write/req', 'proc/kill/req', 'proc/status/req'],
    async setup() {
      const { children, folder, log } = options;
      endOrphans({ folder: children, log });
      processes.removeFolder(folder);
    },
    handle(message, call) {
      if (isMessage(message, 'proc/spawn/req')) return processes.spawn(message, call);
      if (isMessage(message, 'proc/write/req')) return processes.write(message, call);
      if (isMessage(message, 'proc/kill/req')) return processes.kill(message, call);
      return isMessage(message, 'proc/status/req') ? processes.status(message, call) : undefined;
    },
    teardown: () => processes.killAll(),
  };
}

class Processes {
  readonly #options: ProcPluginOptions;
  readonly #commands: CommandList;
  /** The running processes of each connection, and the last ones that have ended. */
  readonly #sessions = new Map<WireSession, Map<string, ProcRun>>();
  /** How many processes each connection is starting. */
  readonly #starting = new WeakMap<WireSession, number>();
  /** The processes of all connections, including those being started. */
  #running = 0;

  constructor(options: ProcPluginOptions) {
    this.#options = options;
    this.#commands = new CommandList(options.config.commands, options.references);
  }

  async spawn(message: MessageOf<'proc/spawn/req'>, { session, requestId }: WireCall): Promise<Answered> {
    const { cmd, cwd, env, timeout, stdin_mode } = message;
    const refused = (error: string): Answered => ({ ok: false, error });
    if (cmd.length === 0)
      return refused('cmd must be a list: the name of a command and its arguments; got an empty list');
    if (cwd !== '') return refused('cwd must be empty: each process has a working folder of its own');
    const [variable] = Object.keys(env);
    if (variable !== undefined) {
      return refused(`env must be empty: the operator sets the variables of a command; got ${show(variable)}`);
    }
    const found = this.#commands.find(session.principal, cmd);
    if (!found.ok) return refused(found.error);
    this.#requireRoom(session);
    const { config, folder: root, children, clock, ids } = this.#options;
    const id = ids.hex().slice(0, 16);
    const folder = join(root, id);
    const longest = config.max_seconds * 1000;
    this.#running += 1;
    // Several requests may arrive before the first one has started its process.
    this.#starting.set(session, (this.#starting.get(session) ?? 0) + 1);
    let seq = 0;
    const onOutput = ({ stream, data }: ProcOutput) => {
      const kind = 'text' in data ? 'log' : 'status';
      session.push('proc/read/event', {
        kind,
        req_id: requestId,
        seq,
        data: { ...data },
        proc_id: id,
        stream_type: stream,
      });
      seq += 1;
    };
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const run = await ProcRun.start({
        id,
        name: cmd[0] ?? '',
        command: found.command,
        args: found.args,
        env: await found.variables(),
        folder,
        children,
        clock,
        timeoutMs: timeout > 0 ? Math.min(timeout * 1000, longest) : longest,
        maxOutputBytes: config.max_output_bytes,
        onOutput,
        onNotRemoved: (error) => this.#noteNotRemoved(folder, error),
      });
      if (stdin_mode === 'null') run.write('', true);
      void run.over.finally(() => {
        this.#running -= 1;
      });
      // The connection may have closed meanwhile.
      if (session.closed.aborted) void run.kill();
      else this.#of(session).set(id, run);
      return { proc_id: id, ok: true, pid: run.pid };
    } catch (error) {
      this.#running -= 1;
      this.removeFolder(folder);
      return refused(error instanceof Error ? error.message : String(error));
    } finally {
      this.#starting.set(session, (this.#starting.get(session) ?? 1) - 1);
    }
  }

  removeFolder(folder: string): void {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      this.#noteNotRemoved(folder, error);
    }
  }

  #noteNotRemoved(folder: string, error: unknown): void {
    this.#options.log.warn({ folder, error: String(error) }, 'the folder of a process could not be removed');
  }

  write({ proc_id, data, eof }: MessageOf<'proc/write/req'>, { session }: WireCall): Answered {
    const run = this.#find(session, proc_id);
    if (!run.isRunning) throw new WireRefused('proc_dead', `The process ${proc_id} has ended: ${run.state}.`);
    if (run.unread + data.length > MOST_UNREAD) {
      throw new WireRefused('busy', `The process ${proc_id} does not read: ${run.unread} bytes wait for it.`);
    }
    run.write(data, eof);
    return { proc_id, ok: true, pid: run.pid };
  }

  kill({ proc_id, signal }: MessageOf<'proc/kill/req'>, { session }: WireCall): Answered {
    const run = this.#find(session, proc_id);
    const name = SIGNALS.find((one) => one === signal);
    if (name === undefined) {
      throw new WireRefused(
        'schema_violation',
        `signal must be one of ${SIGNALS.join(', ')}; got ${show(signal.slice(0, 40))}`,
      );
    }
    return { ok: run.signal(name), state: run.state };
  }

  status({ proc_id }: MessageOf<'proc/status/req'>, { session }: WireCall): Answered {
    if (proc_id === '') {
      const procs = [...this.#of(session).values()].map((run) => run.status);
      return { procs: procs as unknown as JsonObject[] };
    }
    const run = this.#sessions.get(session)?.get(proc_id);
    if (run === undefined)
      return { proc_id, status: 'not_found', error: `there is no process ${show(proc_id.slice(0, 80))}` };
    return { proc_id, status: run.state, procs: [run.status] as unknown as JsonObject[] };
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((session) => this.#killOf(session)));
    this.removeFolder(this.#options.folder);
  }

  #requireRoom(session: WireSession): void {
    const { max_per_connection: own, max_processes: all } = this.#options.config;
    const running =
      [...this.#of(session).values()].filter((run) => run.isRunning).length + (this.#starting.get(session) ?? 0);
    if (running >= own) throw new WireRefused('proc_limit', `${own} processes of this connection run; end one first.`);
    if (this.#running >= all) throw new WireRefused('proc_limit', `${all} processes run on this server; try later.`);
  }

  #find(session: WireSession, id: string): ProcRun {
    const found = this.#sessions.get(session)?.get(id);
    if (found !== undefined) return found;
    throw new WireRefused('unknown_proc', `There is no process ${show(id.slice(0, 80))} of this connection.`);
  }

  #of(session: WireSession): Map<string, ProcRun> {
    const known = this.#sessions.get(session);
    if (known !== undefined) {
      const ended = [...known].filter(([, run]) => !run.isRunning).slice(0, -MOST_ENDED);
      for (const [id] of ended) known.delete(id);
      return known;
    }
    const own = new Map<string, ProcRun>();
    this.#sessions.set(session, own);
    session.closed.addEventListener('abort', () => void this.#killOf(session), { once: true });
    return own;
  }

  async #killOf(session: WireSession): Promise<void> {
    const own = this.#sessions.get(session);
    this.#sessions.delete(session);
    await Promise.all([...(own?.values() ?? [])].map((run) => run.kill()));
  }
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGKILL', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;
const MOST_UNREAD = 1024 * 1024;
const MOST_ENDED = 32;
