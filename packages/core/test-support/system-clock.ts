import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../src/ports/ports.ts';

/** The real time, for tests of real sockets. */
export const systemClock: Clock = {
  now: () => new Date(),
  elapsed: () => performance.now(),
  wait: (milliseconds, signal) =>
    delay(milliseconds, undefined, { ref: false, ...(signal !== undefined && { signal }) }),
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};
