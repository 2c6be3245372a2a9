import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@dragoman/core';
import { type CompleteConfig, completeConfig } from '../config/complete-config.ts';
import { type Config, ConfigShape } from '../config/config-schema.ts';

/** A part of a server that can take over another configuration while it runs. */
export interface Reloadable {
  /** The configuration keys it is created from, such as `agents` or `gate.allow`. */
  readonly names: readonly string[];
  /** Whether it has to be made again though its configuration is the same, for a file that was changed. */
  isStale?(): boolean;
  /** Everything that may fail. */
  prepare(config: CompleteConfig): Prepared | Promise<Prepared>;
}

export interface Prepared {
  put(): void | Promise<void>;
  /** It is not wanted after all. */
  drop?(): Promise<void>;
}

/** The result of a configuration change. */
export interface Reloaded {
  /** These took effect. */
  readonly changed: readonly string[];
  /** These are as they were until the next start. */
  readonly waiting: readonly string[];
}

/** The configuration of a running server, and how it changes: all that can be changed at once, or nothing. */
export class Reloading {
  #running: Config;
  readonly #parts: readonly Reloadable[];
  readonly #clock: Clock;
  #last: Promise<unknown> = Promise.resolve();

  constructor(config: Config, parts: readonly Reloadable[], clock: Clock) {
    this.#running = config;
    this.#parts = parts;
    this.#clock = clock;
  }

  /**
   * One after the other. Rejects when a part cannot take it over, or when the configuration looks cut off; then nothing has
   * changed.
   */
  reload(config: Config, { allowEmpty = false }: ReloadOptions = {}): Promise<Reloaded> {
    const reloaded = this.#last.then(() => {
      if (!allowEmpty) refuseCutOff(this.#running, config);
      return this.#reload(config);
    });
    this.#last = reloaded.catch(() => {});
    return reloaded;
  }

  async #reload(config: Config): Promise<Reloaded> {
    const different = NAMES.filter((name) => !isDeepStrictEqual(valueAt(this.#running, name), valueAt(config, name)));
    const isDifferent = ({ names }: Reloadable) => names.some((name) => different.includes(name));
    const parts = this.#parts.filter((part) => isDifferent(part) || part.isStale?.() === true);
    const prepared: Prepared[] = [];
    try {
      for (const part of parts) prepared.push(await this.#prepared(part, config));
    } catch (error) {
      await Promise.all(prepared.map((one) => one.drop?.()));
      throw error;
    }
    for (const { put } of prepared) await put();
    const taken = parts.flatMap((part) =>
      isDifferent(part) ? part.names.filter((name) => different.includes(name)) : part.names,
    );
    const changed = [...new Set(taken)];
    for (const name of changed) this.#running = withValueAt(this.#running, name, valueAt(config, name));
    return { changed, waiting: different.filter((name) => !changed.includes(name)) };
  }

  /** One that waits for what never comes, as a file of tools may, would keep every change after it from being made. */
  async #prepared(part: Reloadable, config: Config): Promise<Prepared> {
    const preparing = Promise.resolve(part.prepare(completeConfig(config)));
    const over = new AbortController();
    const late = this.#clock.wait(PATIENCE_MS, over.signal).then(() => {
      throw new Error(`${part.names.join(', ')}: not ready after ${PATIENCE_MS / 1000} s; ${WAITING}`);
    });
    try {
      return await Promise.race([preparing, late]);
    } catch (error) {
      // A part that is ready after the timeout is dropped.
      preparing.then((one) => one.drop?.()).catch(() => {});
      throw error;
    } finally {
      over.abort();
    }
  }
}

export interface ReloadOptions {
  /** Accept a configuration that removes every agent. */
  readonly allowEmpty?: boolean;
}

/** An editor or a script may be writing the file, and a partial file may parse. */
function refuseCutOff(running: Config, next: Config): void {
  if (next.version !== undefined) return;
  if (hasAgents(next) || !(hasAgents(running) || (isBare(next) && !isBare(running)))) return;
  throw Object.assign(new Error(CUT_OFF), { code: 'config_cut_off' });
}

function hasAgents({ agents = {} }: Config): boolean {
  return Object.keys(agents).length > 0;
}

/** Whether it sets only values that the command line and the environment can set, too. */
function isBare({ host: _host, port: _port, store: _store, ...rest }: Config): boolean {
  return Object.keys(rest).length === 0;
}

function valueAt(config: Config, name: string): unknown {
  const [key = '', member] = name.split('.');
  const value: unknown = Reflect.get(config, key);
  return member === undefined ? value : Reflect.get(Object(value), member);
}

function withValueAt(config: Config, name: string, value: unknown): Config {
  const [key = '', member] = name.split('.');
  const before: unknown = Reflect.get(config, key);
  return { ...config, [key]: member === undefined ? value : { ...Object(before), [member]: value } };
}

/** Every key of a configuration; for keys with members, each member. */
const NAMES = Object.entries(ConfigShape.properties).flatMap(([key, shape]) => {
  // About the file, not about the server.
  if (key === 'version') return [];
  return 'properties' in shape ? Object.keys(shape.properties).map((member) => `${key}.${member}`) : [key];
});
const PATIENCE_MS = 60_000;
const WAITING = 'does a file have a top-level await that never resolves?';
const CUT_OFF = 'the new configuration is empty or removes every agent, so it may be incomplete';
