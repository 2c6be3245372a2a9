import type { Clock, FamilyName, ReloadFamily } from '@dragoman/core';
import type { Route, SocketRoute } from '../http/route.ts';
import type { Reloadable } from '../reload/reload.ts';
import type { ServerPart } from './part.ts';

/** The parts of a server, in the order in which they were opened. */
export class Parts {
  readonly #parts: ServerPart[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async add<P extends ServerPart>(opening: P | Promise<P>): Promise<P> {
    const part = await opening;
    this.#parts.push(part);
    return part;
  }

  get routes(): Route[] {
    return this.#parts.flatMap(({ routes = [] }) => routes);
  }

  get sockets(): SocketRoute[] {
    return this.#parts.flatMap(({ sockets = [] }) => sockets);
  }

  get reloadables(): Reloadable[] {
    return this.#parts.flatMap(({ reloadables = [] }) => reloadables);
  }

  get families(): [FamilyName, ReloadFamily][] {
    return this.#parts.flatMap(({ families = {} }) => Object.entries(families) as [FamilyName, ReloadFamily][]);
  }

  async listen(): Promise<void> {
    for (const part of this.#parts) await part.listen?.();
  }

  async start(): Promise<void> {
    for (const part of this.#parts) await part.start?.();
  }

  /**
   * Drains all parts within `drainMs` in total, then stops them. Tries every part, and throws the first error at the
   * end.
   */
  async stop(drainMs: number): Promise<void> {
    const parts = this.#parts.splice(0).reverse();
    const deadline = this.#clock.elapsed() + drainMs;
    const errors: unknown[] = [];
    const attempt = async (act: () => PromiseLike<void> | undefined) => {
      try {
        await act();
      } catch (error) {
        errors.push(error);
      }
    };
    for (const part of parts) await attempt(() => part.drain?.(Math.max(0, deadline - this.#clock.elapsed())));
    for (const part of parts) await attempt(() => part.stop?.(drainMs));
    if (errors.length > 0) throw errors[0];
  }
}
