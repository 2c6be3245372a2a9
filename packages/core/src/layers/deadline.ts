import { failure } from '@dragoman/protocols';
import type { Ask } from '../call/ask.ts';
import { type Added, type Call, ExtendedCall } from '../call/call.ts';
import type { Layer } from '../call/handler.ts';
import type { Clock } from '../ports/ports.ts';
import { Refused } from '../refusals/refused.ts';
import { Countdown } from '../time/countdown.ts';

/**
 * Ends a call that takes longer than `milliseconds`, without the time in which a question to a person is open. The
 * runner of the call ends it without the agent's help.
 */
export function deadline({ clock, milliseconds }: { clock: Clock; milliseconds: number }): Layer {
  return (next) => (envelope, call) => {
    const { running } = call;
    if (running === undefined) throw new Error('a call that is not running yet has a deadline');
    const countdown = new Countdown(milliseconds, clock, () => {
      running.end(new Refused(failure('timeout', {}, `No answer within ${milliseconds} ms.`)));
    });
    running.onOver(countdown.cancel);
    return next(envelope, new ExtendedCall(call, new PausedAsk(countdown, call)));
  };
}

/** Creates the functions only when the agent reads them. */
class PausedAsk implements Added {
  readonly #countdown: Countdown;
  readonly #call: Call;

  constructor(countdown: Countdown, call: Call) {
    this.#countdown = countdown;
    this.#call = call;
  }

  get ask(): Ask | undefined {
    const { ask } = this.#call;
    return ask && this.#countdown.pausing(ask);
  }

  get pause(): () => () => void {
    return () => {
      this.#countdown.pause();
      return () => this.#countdown.resume();
    };
  }
}
