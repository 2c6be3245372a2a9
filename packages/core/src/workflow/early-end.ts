import { Ending, type StopSignal } from '../ending.ts';
import type { Cancel } from '../ports.ts';

/** That an execution is over before its time. */
export class EarlyEnd extends Ending {
  /** Ends with the signal, until that is called off. */
  follow(signal: StopSignal): Cancel {
    const follow = () => this.end(signal.reason);
    if (signal.aborted) follow();
    else signal.addEventListener('abort', follow, { once: true });
    return () => signal.removeEventListener('abort', follow);
  }

  /** What the promise gives, or the reason as an error when that comes first. */
  unlessEnded<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const forget = this.onEnd(() => reject(this.reason));
      promise.then(
        (value) => {
          forget();
          resolve(value);
        },
        (error: unknown) => {
          forget();
          reject(error);
        },
      );
    });
  }
}
