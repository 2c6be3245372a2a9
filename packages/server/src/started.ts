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

  once<T>(act: () => T): T | Promise<T> {
    return this.#isStarted ? act() : this.#starting.then(act);
  }
}
