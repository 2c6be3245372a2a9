import { failure } from '@dragoman/protocols';
import { ExtendedCall } from '../call.ts';
import type { Clock } from '../ports.ts';
import { Refused } from '../refused.ts';
import { untilAborted } from '../until-aborted.ts';
import type { Agent } from './agent.ts';

/** An agent whose every answer may take this long and no longer. */
export function timed(agent: Agent, { milliseconds, clock }: { milliseconds: number; clock: Clock }): Agent {
  return {
    id: agent.id,
    async *answer(envelope, call) {
      const over = new AbortController();
      const done = new AbortController();
      clock.wait(milliseconds, done.signal).then(
        () => over.abort(new Refused(failure('timeout', {}, `No answer within ${milliseconds} ms.`))),
        () => {},
      );
      const signal = AbortSignal.any([call.signal, over.signal]);
      try {
        yield* untilAborted(agent.answer(envelope, new ExtendedCall(call, { signal })), signal);
      } finally {
        done.abort();
      }
    },
    whenReachable: () => agent.whenReachable?.(),
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  };
}
