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

  /** A route that accepts work from callers without a key; they wait here until the server has started. */
  holding(route: Route): Route {
    return route.access === 'open' ? { ...route, handle: (request) => this.once(() => route.handle(request)) } : route;
  }

  once<T>(act: () => T | Promise<T>): T | Promise<T> {
    return this.#isStarted ? act() : this.#starting.then(act);
  }
}
