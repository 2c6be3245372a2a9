import type { FamilyName, ReloadFamily } from '@dragoman/core';
import type { Route, SocketRoute } from '../http/route.ts';
import type { Reloadable } from '../reload/reload.ts';

/**
 * A part of the server. A function opens it with what it needs of the parts before it. Every part listens, then every
 * part starts. At the end every part drains, then every part stops, both in reverse order.
 */
export interface ServerPart {
  readonly routes?: readonly Route[];
  readonly sockets?: readonly SocketRoute[];
  /** What of the part can change while the server runs. */
  readonly reloadables?: readonly Reloadable[];
  /** Reloads the cached data of these families after another node has changed them. */
  readonly families?: Readonly<Partial<Record<FamilyName, ReloadFamily>>>;
  /** Opens its ports. An embedded server has none. */
  listen?(): Promise<void>;
  /**
   * Continues the work that an earlier process left. Runs after all ports are open, so that a failure to listen
   * interrupts no work.
   */
  start?(): Promise<void>;
  /** Accepts nothing new, and waits up to `drainMs` for running work. */
  drain?(drainMs: number): Promise<void>;
  /** Closes all resources. Answers that are being sent may take up to `drainMs`. */
  stop?(drainMs: number): PromiseLike<void>;
}
