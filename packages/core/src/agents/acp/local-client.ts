import type { JsonObject } from '@dragoman/protocols';
import { LocalFiles } from './local-files.ts';
import { LocalTerminals, type LocalTerminalsOptions } from './local-terminals.ts';

/** What an agent is offered of this machine. */
export interface ClientOffer {
  readonly files: boolean;
  readonly terminals: boolean;
}

/** Files and terminals for one turn of an agent, as far as they are offered. */
export class LocalClient {
  readonly #methods: Readonly<Record<string, Answer>>;
  readonly #terminals: LocalTerminals;

  constructor({ files, terminals }: ClientOffer, options: LocalTerminalsOptions) {
    const own = new LocalFiles(options.folder);
    const commands = new LocalTerminals(options);
    this.#terminals = commands;
    this.#methods = {
      ...(files && {
        'fs/read_text_file': (params) => own.read(params),
        'fs/write_text_file': (params) => own.write(params),
      }),
      ...(terminals && {
        'terminal/create': (params) => commands.create(params),
        'terminal/output': (params) => commands.output(params),
        'terminal/wait_for_exit': (params) => commands.waitForExit(params),
        'terminal/kill': (params) => commands.kill(params),
        'terminal/release': (params) => commands.release(params),
      }),
    };
  }

  /** `undefined` for what is not offered. */
  answer(method: string, params: JsonObject): JsonObject | Promise<JsonObject> | undefined {
    return Object.hasOwn(this.#methods, method) ? this.#methods[method]?.(params) : undefined;
  }

  /** Commands end with the turn that started them. */
  end(): Promise<void> {
    return this.#terminals.end();
  }
}

type Answer = (params: JsonObject) => JsonObject | Promise<JsonObject>;
