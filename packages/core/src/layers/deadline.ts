import { failure } from '@dragoman/protocols';
import type { Layer } from '../handler.ts';
import type { Clock } from '../ports.ts';
import { Refused } from '../refused.ts';

/** Ends a call that takes longer than this. Whoever runs the call sees to it that ending it does not need the agent's help. */
export function deadline({ clock, milliseconds }: { clock: Clock; milliseconds: number }): Layer {
  return (next) => (envelope, call) => {
    const { running } = call;
    if (running === undefined) throw new Error('a call that is not running yet has a deadline');
    const cancel = clock.after(milliseconds, () => {
      running.end(new Refused(failure('timeout', {}, `No answer within ${milliseconds} ms.`)));
    });
    running.onOver(cancel);
    return next(envelope, call);
  };
}
