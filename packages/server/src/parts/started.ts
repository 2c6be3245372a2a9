import type { Route } from '../http/route.ts';

/** Callers that come while the server starts wait until it knows them. */
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

  /** A route that takes work from callers without a key, whom nobody else would let wait. */
  holding(route: Route): Route {
    return route.access === 'open' ? { ...route, handle: (request) => this.once(() => route.handle(request)) } : route;
  }

  once<T>(act: () => T | Promise<T>): T | Promise<T> {
    return this.#isStarted ? act() : this.#starting.then(act);
  }
}
