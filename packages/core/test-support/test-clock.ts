import type { Clock } from '../src/ports/ports.ts';

/** A clock that stands still until a test advances it. */
export class TestClock implements Clock {
  #now: number;
  #elapsed = 0;
  #waiting: { readonly at: number; readonly wake: () => void }[] = [];

  constructor(now = '2026-03-28T12:00:00.000Z') {
    this.#now = Date.parse(now);
  }

  now(): Date {
    return new Date(this.#now);
  }

  elapsed(): number {
    return this.#elapsed;
  }

  wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const giveUp = () => {
        this.#waiting = this.#waiting.filter((other) => other !== entry);
        reject(signal?.reason);
      };
      const wake = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const entry = { at: this.#elapsed + milliseconds, wake };
      this.#waiting.push(entry);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  after(milliseconds: number, callback: () => void): () => void {
    const entry = { at: this.#elapsed + milliseconds, wake: callback };
    this.#waiting.push(entry);
    return () => {
      this.#waiting = this.#waiting.filter((other) => other !== entry);
    };
  }

  /** Lets time pass and wakes who waited for it. */
  pass(milliseconds: number): void {
    this.#now += milliseconds;
    this.#elapsed += milliseconds;
    const due = this.#waiting.filter((entry) => entry.at <= this.#elapsed).sort((a, b) => a.at - b.at);
    this.#waiting = this.#waiting.filter((entry) => entry.at > this.#elapsed);
    for (const entry of due) entry.wake();
  }

  /** The same, and lets those who were woken do what they do. */
  async advance(milliseconds: number): Promise<void> {
    this.pass(milliseconds);
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Moves wall time alone, as an operator or NTP would. */
  jump(milliseconds: number): void {
    this.#now += milliseconds;
  }

  /** How many are waiting. */
  get waiting(): number {
    return this.#waiting.length;
  }
}
