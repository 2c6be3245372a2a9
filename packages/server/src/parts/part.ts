import type { FamilyName, ReloadFamily } from '@dragoman/core';
import type { Route, SocketRoute } from '../http/route.ts';
import type { Reloadable } from '../reload/reload.ts';

/**
 * A piece of the server. A function opens it with what it needs of the parts before it. Then every part listens, every part starts,
 * and at the end every part drains and stops, the last one first.
 */
export interface ServerPart {
  readonly routes?: readonly Route[];
  readonly sockets?: readonly SocketRoute[];
  /** The parts of it that can change at runtime. */
  readonly reloadables?: readonly Reloadable[];
  /** Reloads the cached data of these families after another node has changed them. */
  readonly families?: Readonly<Partial<Record<FamilyName, ReloadFamily>>>;
  /** Opens its ports. An embedded server has none. */
  listen?(): Promise<void>;
  /** Continues what an earlier process left. All ports are open by then, so that no work starts only to be stopped. */
  start?(): Promise<void>;
  /** Accepts nothing new, and waits at most this long for running work. */
  drain?(drainMs: number): Promise<void>;
  /** Closes all resources after the drain. Answers that are being sent have this long. */
  stop?(drainMs: number): PromiseLike<void>;
}
