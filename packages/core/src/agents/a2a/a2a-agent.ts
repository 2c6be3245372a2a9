import { type E2AEnvelope, failure } from '@dragoman/protocols';
import type { Call } from '../../call/call.ts';
import { connectFault } from '../../gate/connect-fault.ts';
import type { Clock, Log } from '../../ports/ports.ts';
import { failureOf } from '../../refusals/refused.ts';
import { type Agent, type AgentPart, agentFailed } from '../agent.ts';
import { IdleTimer } from '../idle-timer.ts';
import { partsOf } from './message-of.ts';
import { PeerAnswer } from './peer-answer.ts';
import type { PeerClient, PeerReply, PeerRequest } from './peer-client.ts';
import { failureOfPeer, type PeerError } from './peer-error.ts';
import type { PeerAttempt, PeerWays } from './peer-ways.ts';
import type { RemoteConversation, RemoteSessions } from './remote-sessions.ts';

export interface A2aAgentOptions {
  readonly id: string;
  readonly ways: PeerWays;
  readonly sessions: RemoteSessions;
  readonly clock: Clock;
  readonly log: Log;
  /** How long the agent may send nothing at all. */
  readonly idleMs?: number;
}

/** A foreign agent that speaks Linux Foundation A2A, 1.0 or 0.3. */
export class A2aAgent implements Agent {
  readonly id: string;
  readonly #options: Required<A2aAgentOptions>;
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
    const run = new PeerRun({ envelope, call, answer, signal, idle, options: this.#options });
    try {
      const refused = ways.refusal(envelope, call.principal);
      if (refused !== undefined) yield { part: 'failure', failure: refused };
      else yield* run.parts();
    } catch (error) {
      call.signal.throwIfAborted();
      run.isWanted = idle.signal.aborted;
      yield failedPart(error, { idle: idle.signal.aborted, idleMs, hasBegun: answer.hasBegun });
    } finally {
      idle.stop();
      over.abort();
      if (run.isWanted && !answer.isOver) this.#cancel(run, answer.taskId);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#cancelling);
  }

  /** Tells the agent that nobody wants the answer, and lets go of it after ten seconds. */
  #cancel(run: PeerRun, taskId: string | undefined): void {
    if (taskId === undefined) return;
    const cancelled = run.cancel(taskId).finally(() => this.#cancelling.delete(cancelled));
    this.#cancelling.add(cancelled);
  }
}

interface PeerRunOptions {
  readonly envelope: E2AEnvelope;
  readonly call: Call;
  readonly answer: PeerAnswer;
  readonly signal: AbortSignal;
  readonly idle: IdleTimer;
  readonly options: Required<A2aAgentOptions>;
}

/**
 * One request to a foreign agent.
 *
 *   asking ──refused, nothing done──▶ asking another way
 *     │──events──▶ following ──end state──▶ ended
 *                   │  ▲──the stream broke: subscribe, twice──│
 *                   └──still no end──▶ polling ──end state──▶ ended
 */
class PeerRun {
  readonly #options: PeerRunOptions;
  /** The way that the agent understood. */
  #attempt: PeerAttempt | undefined;
  #wasBroken = false;
  /** The task is still at work for this request: whoever leaves now has to cancel it. */
  isWanted = true;

  constructor(options: PeerRunOptions) {
    this.#options = options;
  }

  async *parts(): AsyncGenerator<AgentPart, void, undefined> {
    const { answer, options, envelope, call } = this.#options;
    const known = await options.sessions.find(envelope, call);
    const error = yield* this.#send(known);
    if (error === undefined) {
      const lost = yield* this.#follow();
      if (lost !== undefined) return yield { part: 'failure', failure: failureOfPeer(lost) };
    }
    await this.#remember(known, error);
    this.isWanted = false;
    if (error === undefined) yield* answer.end();
    else yield { part: 'failure', failure: failureOfPeer(error) };
  }

  async cancel(taskId: string): Promise<void> {
    const { options, call, envelope } = this.#options;
    const { clock, ways, log, id } = options;
    const idle = new IdleTimer({ clock, milliseconds: CANCEL_MS });
    try {
      if (this.#attempt === undefined) return;
      const client = ways.client(this.#attempt, { envelope, principal: call.principal, signal: idle.signal, idle });
      for await (const reply of client.cancelTask(taskId)) {
        if ('error' in reply) log.warn({ agent: id, error: reply.error.message }, 'an agent did not cancel a task');
      }
    } catch (error) {
      log.warn({ agent: id, error: connectFault(error) }, 'an agent could not be asked to cancel a task');
    } finally {
      idle.stop();
    }
  }

  /** Sends the message, by the first way that the agent understands. Returns the error that ended it, if one did. */
  async *#send(known: RemoteConversation): AsyncGenerator<AgentPart, PeerError | undefined, undefined> {
    const { answer, options, envelope } = this.#options;
    let { taskId, contextId } = known;
    let first: PeerError | undefined;
    const attempts = await options.ways.attempts();
    for (let index = 0; index < attempts.length; ) {
      const attempt = attempts[index] as PeerAttempt;
      const request: PeerRequest = {
        messageId: envelope.request_id ?? '',
        parts: partsOf(envelope),
        contextId,
        taskId,
        outputModes: outputModesOf(envelope, attempt),
        metadata: envelope.a2a_metadata,
      };
      this.#attempt = attempt;
      const client = this.#client(attempt);
      const error = yield* this.#take(client.send(request, { streaming: attempt.streaming }));
      if (error === undefined || error === BROKEN) {
        options.ways.remember(attempt);
        return undefined;
      }
      first ??= error;
      if (answer.hasBegun) return error;
      const { kind, message } = error;
      const isLost = kind === 'task_not_found' || (kind === 'other' && /context|task/i.test(message));
      // A task that is over there, or a conversation that the agent has lost, is begun again.
      if ((isLost || kind === 'not_understood') && taskId !== undefined) taskId = undefined;
      else if (isLost && contextId !== undefined) contextId = undefined;
      else if (kind === 'not_understood') index++;
      else return error;
    }
    return first;
  }

  /** Until the task has ended, however often its stream breaks. Returns the error of an agent that has lost it. */
  async *#follow(): AsyncGenerator<AgentPart, PeerError | undefined, undefined> {
    const { answer, options, signal } = this.#options;
    const { clock } = options;
    for (let tries = 0; tries < SUBSCRIBE_PAUSES_MS.length && this.#isUnfinished(); tries++) {
      const { taskId } = answer;
      // An answer to a plain message that is not done yet is asked for again; a stream is continued.
      if (taskId === undefined || this.#attempt?.streaming !== true) break;
      this.#wasBroken = true;
      await clock.wait(SUBSCRIBE_PAUSES_MS[tries] ?? 0, signal);
      const error = yield* this.#take(this.#client().subscribe(taskId));
      if (error !== undefined && error !== BROKEN && error.kind !== 'later') break;
    }
    const lost = yield* this.#poll();
    // What a broken stream did not carry is in the task.
    if (lost === undefined && this.#wasBroken && answer.isOver && answer.taskId !== undefined) {
      yield* this.#take(this.#client().getTask(answer.taskId));
    }
    return lost;
  }

  /** Asks how the task is, until it has ended. A task that does not change for long is given up. */
  async *#poll(): AsyncGenerator<AgentPart, PeerError | undefined, undefined> {
    const { answer, options, signal } = this.#options;
    const { clock, idleMs } = options;
    let failures = 0;
    let since = clock.elapsed();
    for (let pause = FIRST_POLL_MS; this.#isUnfinished(); pause = Math.min(pause * 1.5, LAST_POLL_MS)) {
      const { taskId, state } = answer;
      if (taskId === undefined) return LOST;
      await clock.wait(pause, signal);
      let hasChanged = false;
      const poll = this.#take(this.#client().getTask(taskId));
      let step = await poll.next();
      for (; step.done !== true; step = await poll.next()) {
        hasChanged = true;
        yield step.value;
      }
      const error = step.value;
      failures = error === undefined ? 0 : failures + 1;
      const isOver = error !== undefined && error !== BROKEN && error.kind !== 'later';
      if (isOver || failures >= MOST_FAILURES) return LOST;
      if (hasChanged || state !== answer.state) since = clock.elapsed();
      else if (clock.elapsed() - since >= idleMs) return STALLED;
    }
    return undefined;
  }

  #isUnfinished(): boolean {
    const { answer } = this.#options;
    return !answer.isOver && !answer.isWaiting && !answer.isMessageOnly;
  }

  /** The parts of what came. Returns the error, if one came, or that the connection broke off while the task goes on. */
  async *#take(
    replies: AsyncGenerator<PeerReply, void, undefined>,
  ): AsyncGenerator<AgentPart, PeerError | typeof BROKEN | undefined, undefined> {
    const { answer, signal } = this.#options;
    try {
      for await (const reply of this.#untilSettled(replies)) {
        if ('error' in reply) return answer.isOver ? undefined : reply.error;
        yield* answer.apply(reply.event);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (failureOf(error)?.code === 'forbidden' || answer.taskId === undefined) throw error;
      return BROKEN;
    }
    return undefined;
  }

  /** After the end of a task some agents show it once more; one that keeps the stream open is not waited for. */
  async *#untilSettled(
    replies: AsyncGenerator<PeerReply, void, undefined>,
  ): AsyncGenerator<PeerReply, void, undefined> {
    const { answer, options } = this.#options;
    try {
      for (;;) {
        const next = replies.next();
        if (!answer.isOver && answer.state !== 'TASK_STATE_INPUT_REQUIRED') {
          const reply = await next;
          if (reply.done === true) return;
          yield reply.value;
          continue;
        }
        let cancel = () => {};
        const settled = new Promise<undefined>((resolve) => {
          cancel = options.clock.after(SETTLE_MS, () => resolve(undefined));
        });
        const reply = await Promise.race([next, settled]).finally(cancel);
        if (reply === undefined) {
          next.catch(() => {});
          return;
        }
        if (reply.done === true) return;
        yield reply.value;
      }
    } finally {
      // Not waited for: one that hangs has given its answer all the same.
      replies.return(undefined).catch(() => {});
    }
  }

  /** Before the end is known to anybody: the next message may come at once. */
  async #remember(known: RemoteConversation, error: PeerError | undefined): Promise<void> {
    const { answer, envelope, call, options } = this.#options;
    if (error !== undefined && !answer.hasBegun) return;
    const taskId = answer.isWaiting ? answer.taskId : undefined;
    const contextId = answer.contextId ?? known.contextId;
    if (taskId === known.taskId && contextId === known.contextId) return;
    await options.sessions.put(envelope, call, { contextId, taskId });
  }

  #client(attempt = this.#attempt as PeerAttempt): PeerClient {
    const { envelope, call, signal, idle, options } = this.#options;
    return options.ways.client(attempt, { envelope, principal: call.principal, signal, idle });
  }
}

function outputModesOf({ expected_output_modes: asked }: E2AEnvelope, { outputModes }: PeerAttempt): readonly string[] {
  return asked.length > 0 ? asked : [...new Set([...USUAL_MODES, ...outputModes])];
}

function failedPart(
  error: unknown,
  { idle, idleMs, hasBegun }: { idle: boolean; idleMs: number; hasBegun: boolean },
): AgentPart {
  if (idle)
    return { part: 'failure', failure: failure('timeout', {}, `The remote agent sent nothing for ${idleMs} ms.`) };
  const refused = failureOf(error);
  if (refused !== undefined && OWN_FAILURES.has(refused.code)) return { part: 'failure', failure: refused };
  if (refused?.code === 'agent_failed' && refused.details['sent'] === undefined)
    return { part: 'failure', failure: refused };
  const what = hasBegun ? 'The answer of the remote agent broke off' : 'The remote agent could not be asked';
  return agentFailed(`${what}: ${connectFault(error)}.`);
}

const OWN_FAILURES: ReadonlySet<string> = new Set(['forbidden', 'store_unavailable', 'invalid_message']);
const USUAL_MODES = ['text/plain', 'application/json'];
const LOST: PeerError = {
  kind: 'later',
  message: 'its stream broke and the task cannot be read any more (stream_lost)',
  code: undefined,
  httpStatus: 200,
};
const STALLED: PeerError = { ...LOST, message: 'its task did not change for too long' };
/** The connection broke off. */
const BROKEN = Symbol('broken');
const SUBSCRIBE_PAUSES_MS = [500, 2_000];
const FIRST_POLL_MS = 200;
const LAST_POLL_MS = 5_000;
const MOST_FAILURES = 5;
const SETTLE_MS = 2_000;
const CANCEL_MS = 10_000;
const TEN_MINUTES = 600_000;
