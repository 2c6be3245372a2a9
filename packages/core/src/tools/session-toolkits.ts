import type { WireSession } from './wire/plugin.ts';

/** The toolkits that each connection has hidden from itself. */
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
