import type { Route } from '../http/route.ts';

/** Holds calls that arrive while the server starts, until the callers are loaded. */
export class Started {
  #isStarted = false;
  #start = () => {};
  readonly #starting = new Promise<void>((resolve) => {
    this.#start = resolve;
  });

  now(): void {
    this.#isStarted = true;
    this.#start();
  }

  /** A route whose open calls wait until the server has started. Calls with a key wait when the key is checked. */
  holding(route: Route): Route {
    return route.access === 'open' ? { ...route, handle: (request) => this.once(() => route.handle(request)) } : route;
  }

  once<T>(act: () => T | Promise<T>): T | Promise<T> {
    return this.#isStarted ? act() : this.#starting.then(act);
  }
}
