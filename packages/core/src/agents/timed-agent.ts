import { failure } from '@dragoman/protocols';
import { ExtendedCall } from '../call/call.ts';
import { untilAborted } from '../ending/until-aborted.ts';
import type { Clock } from '../ports/ports.ts';
import { Refused } from '../refusals/refused.ts';
import { Countdown } from '../time/countdown.ts';
import type { Agent } from './agent.ts';

/** An agent with a time limit for each answer. Time in which it waits for a person does not count. */
export function timed(agent: Agent, { milliseconds, clock }: { milliseconds: number; clock: Clock }): Agent {
  return {
    id: agent.id,
    async *answer(envelope, call) {
      const over = new AbortController();
      const countdown = new Countdown(milliseconds, clock, () => {
        over.abort(new Refused(failure('timeout', {}, `No answer within ${milliseconds} ms.`)));
      });
      const signal = AbortSignal.any([call.signal, over.signal]);
      const ask = call.ask && countdown.pausing(call.ask);
      try {
        yield* untilAborted(agent.answer(envelope, new ExtendedCall(call, { signal, ask })), signal);
      } finally {
        countdown.cancel();
      }
    },
    takesMcpServers: agent.takesMcpServers,
    whenReachable: () => agent.whenReachable?.(),
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  };
}
