import { type E2AEnvelope, failure } from '@dragoman/protocols';
import type { Call } from '../../call/call.ts';
import { connectFault } from '../../gate/connect-fault.ts';
import { failureOf } from '../../refusals/refused.ts';
import { type Agent, type AgentPart, agentFailed } from '../agent.ts';
import { IdleTimer } from '../idle-timer.ts';
import { PeerAnswer } from './peer-answer.ts';
import { type PeerAgent, PeerRun } from './peer-run.ts';

export interface A2aAgentOptions extends Omit<PeerAgent, 'idleMs'> {
  /** Default: ten minutes. */
  readonly idleMs?: number;
}

/** A remote agent that speaks Linux Foundation A2A, 1.0 or 0.3. */
export class A2aAgent implements Agent {
  readonly id: string;
  readonly #options: PeerAgent;
  /** Cancellations under way. */
  readonly #cancelling = new Set<Promise<void>>();

  constructor(options: A2aAgentOptions) {
    this.id = options.id;
    this.#options = { idleMs: TEN_MINUTES, ...options };
  }

  async *answer(envelope: E2AEnvelope, call: Call): AsyncGenerator<AgentPart, void, undefined> {
    const { clock, idleMs, ways } = this.#options;
    const idle = new IdleTimer({ clock, milliseconds: idleMs });
    const over = new AbortController();
    const signal = AbortSignal.any([call.signal, idle.signal, over.signal]);
    const answer = new PeerAnswer();
    const giveUp = (reason: Error) => over.abort(reason);
    const run = new PeerRun({ envelope, call, answer, signal, giveUp, idle, agent: this.#options });
    try {
      const refused = ways.refusal(envelope, call.principal);
      if (refused !== undefined) yield { part: 'failure', failure: refused };
      else yield* run.parts();
    } catch (error) {
      call.signal.throwIfAborted();
      run.isWanted = signal.aborted;
      yield failedPart(error, { idle: idle.signal.aborted, idleMs, hasStarted: answer.hasStarted });
    } finally {
      idle.stop();
      over.abort();
      run.close();
      if (run.isWanted && !answer.isOver) this.#cancel(run, answer.taskId);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#cancelling);
  }

  /** Cancels the task at the agent, and stops waiting for its reply after ten seconds. */
  #cancel(run: PeerRun, taskId: string | undefined): void {
    if (taskId === undefined) return;
    const cancelled = run.cancel(taskId).finally(() => this.#cancelling.delete(cancelled));
    this.#cancelling.add(cancelled);
  }
}

function failedPart(
  error: unknown,
  { idle, idleMs, hasStarted }: { idle: boolean; idleMs: number; hasStarted: boolean },
): AgentPart {
  if (idle)
    return { part: 'failure', failure: failure('timeout', {}, `The remote agent sent nothing for ${idleMs} ms.`) };
  const refused = failureOf(error);
  if (refused !== undefined && OWN_FAILURES.has(refused.code)) return { part: 'failure', failure: refused };
  if (refused?.code === 'agent_failed' && refused.details['sent'] === undefined)
    return { part: 'failure', failure: refused };
  const what = hasStarted ? 'The answer of the remote agent was cut off' : 'The remote agent could not be reached';
  return agentFailed(`${what}: ${connectFault(error)}.`);
}

const OWN_FAILURES: ReadonlySet<string> = new Set(['forbidden', 'store_unavailable', 'invalid_message', 'cancelled']);
const TEN_MINUTES = 600_000;
