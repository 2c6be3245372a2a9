import type { JsonObject } from '@dragoman/protocols';
import type { ClientAccesses } from './client-offer.ts';
import { LocalFiles } from './local-files.ts';
import { LocalTerminals, type LocalTerminalsOptions } from './local-terminals.ts';

/** The files and terminals that one turn of an agent is offered. */
export class LocalClient {
  readonly #methods: Readonly<Record<string, Answer>>;
  readonly #terminals: LocalTerminals;

  constructor({ files, terminals }: ClientAccesses, options: LocalTerminalsOptions) {
    const own = new LocalFiles(options.folder);
    const commands = new LocalTerminals(options);
    this.#terminals = commands;
    this.#methods = {
      ...(files === 'local' && {
        'fs/read_text_file': (params) => own.read(params),
        'fs/write_text_file': (params) => own.write(params),
      }),
      ...(terminals === 'local' && {
        'terminal/create': (params) => commands.create(params),
        'terminal/output': (params) => commands.output(params),
        'terminal/wait_for_exit': (params) => commands.waitForExit(params),
        'terminal/kill': (params) => commands.kill(params),
        'terminal/release': (params) => commands.release(params),
      }),
    };
  }

  offers(method: string): boolean {
    return Object.hasOwn(this.#methods, method);
  }

  answer(method: string, params: JsonObject): JsonObject | Promise<JsonObject> {
    return (this.#methods[method] as Answer)(params);
  }

  /** Commands end with the turn that started them. */
  end(): Promise<void> {
    return this.#terminals.end();
  }
}

type Answer = (params: JsonObject) => JsonObject | Promise<JsonObject>;
