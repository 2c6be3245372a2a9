import type { WireSession } from './wire/plugin.ts';

/** The groups of tools that a connection has put away. Each for itself: what one agent hides, another keeps. */
export class SessionToolkits {
  readonly #hidden = new WeakMap<WireSession, Set<string>>();

  hiddenFrom(session: WireSession): ReadonlySet<string> {
    return this.#hidden.get(session) ?? NONE;
  }

  hide(session: WireSession, toolkit: string): void {
    const hidden = this.#hidden.get(session) ?? new Set();
    this.#hidden.set(session, hidden.add(toolkit));
  }

  show(session: WireSession, toolkit: string): void {
    this.#hidden.get(session)?.delete(toolkit);
  }
}

const NONE: ReadonlySet<string> = new Set();
