import { type E2AEnvelope, failure } from '@dragoman/protocols';
import type { MessagePart } from '@dragoman/protocols/lf-a2a';
import type { Call } from '../../call/call.ts';
import { connectFault } from '../../gate/connect-fault.ts';
import type { Clock, Log } from '../../ports/ports.ts';
import { failureOf, Refused, refuse } from '../../refusals/refused.ts';
import type { AgentPart } from '../agent.ts';
import { IdleTimer } from '../idle-timer.ts';
import { partsOf } from './message-of.ts';
import type { PeerAnswer } from './peer-answer.ts';
import type { PeerClient, PeerReply, PeerRequest } from './peer-client.ts';
import { failureOfPeer, type PeerError } from './peer-error.ts';
import { questionInStatus, signInOf } from './peer-question.ts';
import type { PeerAttempt, PeerWays } from './peer-ways.ts';
import type { RemoteConversation, RemoteSessions } from './remote-sessions.ts';

/** The agent that is called. */
export interface PeerAgent {
  readonly id: string;
  readonly ways: PeerWays;
  readonly sessions: RemoteSessions;
  readonly clock: Clock;
  readonly log: Log;
  /** How long the agent may send nothing at all. */
  readonly idleMs: number;
}

export interface PeerRunOptions {
  readonly envelope: E2AEnvelope;
  readonly call: Call;
  readonly answer: PeerAnswer;
  readonly signal: AbortSignal;
  readonly giveUp: (reason: Error) => void;
  readonly idle: IdleTimer;
  readonly agent: PeerAgent;
}

type NextMessage = Pick<PeerRequest, 'messageId' | 'parts' | 'contextId' | 'taskId'>;

/**
 * One request to a remote agent.
 *
 *   asking ──refused, nothing done──▶ asking another way
 *     │──events──▶ following ──end state──▶ ended
 *                   │  ▲──the stream broke: subscribe, twice──│
 *                   │──still no end──▶ polling ──end state──▶ ended
 *                   └──INPUT_REQUIRED──▶ asking, with a person's answer
 */
export class PeerRun {
  readonly #options: PeerRunOptions;
  /** The way in which the latest message was sent. */
  #attempt: PeerAttempt | undefined;
  #wasBroken = false;
  #known: RemoteConversation = {};
  /** The open sign-in question; aborting it withdraws the question. */
  #signIn: AbortController | undefined;
  /** Whether the task still works for this request, so that it is cancelled if the caller leaves now. */
  isWanted = true;

  constructor(options: PeerRunOptions) {
    this.#options = options;
  }

  async *parts(): AsyncGenerator<AgentPart, void, undefined> {
    const { answer, agent, envelope, call } = this.#options;
    const { request_id: requestId } = envelope;
    this.#known = await agent.sessions.find(envelope, call);
    let message: NextMessage = { messageId: requestId ?? '', parts: partsOf(envelope), ...this.#known };
    for (let count = 1; ; count++) {
      const error = yield* this.#send(message);
      if (error === undefined) {
        const lost = yield* this.#follow();
        if (lost !== undefined) return yield { part: 'failure', failure: failureOfPeer(lost) };
      }
      await this.#remember(error);
      if (error === undefined && answer.isWaiting) {
        const parts = await this.#answerOfPerson();
        const { contextId, taskId } = answer;
        message = { messageId: `${requestId}-${count}`, parts, contextId, taskId };
        answer.resume();
        continue;
      }
      this.isWanted = false;
      if (error !== undefined) yield { part: 'failure', failure: failureOfPeer(error) };
      else yield* answer.end();
      return;
    }
  }

  close(): void {
    this.#signIn?.abort();
  }

  async cancel(taskId: string): Promise<void> {
    const { agent, call, envelope } = this.#options;
    const { clock, ways, log, id } = agent;
    const idle = new IdleTimer({ clock, milliseconds: CANCEL_MS });
    try {
      if (this.#attempt === undefined) return;
      const client = ways.client(this.#attempt, { envelope, principal: call.principal, signal: idle.signal, idle });
      for await (const reply of client.cancelTask(taskId)) {
        if ('error' in reply) log.warn({ agent: id, error: reply.error.message }, 'an agent did not cancel a task');
      }
    } catch (error) {
      log.warn({ agent: id, error: connectFault(error) }, 'a cancellation could not be sent to an agent');
    } finally {
      idle.stop();
    }
  }

  /** Sends the message over the first interface that the agent understands. Returns the error that ended it, if any. */
  async *#send(message: NextMessage): AsyncGenerator<AgentPart, PeerError | undefined, undefined> {
    const { answer, agent, envelope } = this.#options;
    let { taskId, contextId } = message;
    let first: PeerError | undefined;
    const attempts = await agent.ways.attempts();
    for (let index = 0; index < attempts.length; ) {
      const attempt = attempts[index] as PeerAttempt;
      const request: PeerRequest = {
        ...message,
        contextId,
        taskId,
        outputModes: outputModesOf(envelope, attempt),
        metadata: envelope.a2a_metadata,
      };
      this.#attempt = attempt;
      const client = this.#client(attempt);
      const error = yield* this.#take(client.send(request, { streaming: attempt.streaming }));
      if (error === undefined || error === BROKEN) {
        agent.ways.remember(attempt);
        return undefined;
      }
      first ??= error;
      if (answer.hasStarted) return error;
      const { kind } = error;
      const isLost = kind === 'task_not_found' || (kind === 'other' && /context|task/i.test(error.message));
      // Start again where the agent has ended the task or lost the conversation.
      if ((isLost || kind === 'not_understood') && taskId !== undefined) taskId = undefined;
      else if (isLost && contextId !== undefined) contextId = undefined;
      else if (kind === 'not_understood') index++;
      else return error;
    }
    return first;
  }

  /** Follows the task until it ends, even if its stream breaks. Returns the error of an agent that has lost the task. */
  async *#follow(): AsyncGenerator<AgentPart, PeerError | undefined, undefined> {
    const { answer, agent, signal } = this.#options;
    const { clock } = agent;
    for (let tries = 0; tries < SUBSCRIBE_PAUSES_MS.length && this.#isUnfinished(); tries++) {
      const { taskId } = answer;
      // Only a stream can be continued. An unfinished answer to a plain message is polled.
      if (taskId === undefined || this.#attempt?.streaming !== true) break;
      this.#wasBroken = true;
      await clock.wait(SUBSCRIBE_PAUSES_MS[tries] ?? 0, signal);
      const error = yield* this.#take(this.#client().subscribe(taskId));
      if (error !== undefined && error !== BROKEN && error.kind !== 'later') break;
    }
    const lost = yield* this.#poll();
    // The task has everything that the broken stream did not deliver.
    if (lost === undefined && this.#wasBroken && answer.isOver && answer.taskId !== undefined) {
      yield* this.#take(this.#client().getTask(answer.taskId));
    }
    return lost;
  }

  /** Polls the task until it has ended. A task that does not change for a long time is given up. */
  async *#poll(): AsyncGenerator<AgentPart, PeerError | undefined, undefined> {
    const { answer, agent, signal } = this.#options;
    const { clock, idleMs } = agent;
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
      if (hasChanged || state !== answer.state || this.#signIn !== undefined) since = clock.elapsed();
      else if (clock.elapsed() - since >= idleMs) return STALLED;
    }
    return undefined;
  }

  #isUnfinished(): boolean {
    const { answer } = this.#options;
    return !answer.isOver && !answer.isWaiting && !answer.isMessageOnly;
  }

  /** A person's answer to the agent's question, as the parts of the next message. */
  async #answerOfPerson(): Promise<MessagePart[]> {
    const { answer, call } = this.#options;
    const { parts, text } = answer.lastMessage;
    const { question, answer: toParts } = questionInStatus(parts, text);
    if (call.ask === undefined)
      refuse(
        'agent_failed',
        {},
        `The remote agent asked a question, which this request cannot answer: ${question.title}`,
      );
    return toParts(await call.ask(question));
  }

  /** Puts the sign-in question to a person while the task waits for it. */
  #askForSignIn(): void {
    const { answer, call, giveUp, idle } = this.#options;
    if (!answer.needsSignIn) {
      this.#signIn?.abort();
      this.#signIn = undefined;
    } else if (this.#signIn === undefined && call.ask !== undefined) {
      this.#signIn = new AbortController();
      const { signal } = this.#signIn;
      const asked = call.ask(signInOf(answer.lastMessage.parts, answer.lastMessage.text), { signal });
      idle
        .suspend(asked)
        .then(({ action }) => {
          if (action === 'decline' || action === 'cancel') giveUp(new Refused(failure('cancelled', {}, NOT_SIGNED_IN)));
        })
        // The question was withdrawn, or the request is over.
        .catch(() => {});
    }
  }

  /** The parts of the replies. Returns an error reply, or `BROKEN` if the connection was lost while the task continues. */
  async *#take(
    replies: AsyncGenerator<PeerReply, void, undefined>,
  ): AsyncGenerator<AgentPart, PeerError | typeof BROKEN | undefined, undefined> {
    const { answer, signal } = this.#options;
    try {
      for await (const reply of this.#untilSettled(replies)) {
        if ('error' in reply) return answer.isOver ? undefined : reply.error;
        yield* answer.apply(reply.event);
        this.#askForSignIn();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (failureOf(error)?.code === 'forbidden' || answer.taskId === undefined) throw error;
      return BROKEN;
    }
    return undefined;
  }

  /** The replies up to two seconds after the end of the task, because some agents then send the task once more. */
  async *#untilSettled(
    replies: AsyncGenerator<PeerReply, void, undefined>,
  ): AsyncGenerator<PeerReply, void, undefined> {
    const { answer, agent } = this.#options;
    try {
      for (;;) {
        const next = replies.next();
        if (!answer.isOver && !answer.isWaiting) {
          const reply = await next;
          if (reply.done === true) return;
          yield reply.value;
          continue;
        }
        let cancel = () => {};
        const settled = new Promise<undefined>((resolve) => {
          cancel = agent.clock.after(SETTLE_MS, () => resolve(undefined));
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
      // Not awaited: the answer is complete, even if the agent hangs.
      replies.return(undefined).catch(() => {});
    }
  }

  /** Stores the conversation before the end is reported, because the caller may send the next message at once. */
  async #remember(error: PeerError | undefined): Promise<void> {
    const { answer, envelope, call, agent } = this.#options;
    if (error !== undefined && !answer.hasStarted) return;
    const taskId = answer.isWaiting ? answer.taskId : undefined;
    const contextId = answer.contextId ?? this.#known.contextId;
    if (taskId === this.#known.taskId && contextId === this.#known.contextId) return;
    this.#known = { contextId, taskId };
    await agent.sessions.put(envelope, call, this.#known);
  }

  #client(attempt = this.#attempt as PeerAttempt): PeerClient {
    const { envelope, call, signal, idle, agent } = this.#options;
    return agent.ways.client(attempt, { envelope, principal: call.principal, signal, idle });
  }
}

function outputModesOf({ expected_output_modes: modes }: E2AEnvelope, { outputModes }: PeerAttempt): readonly string[] {
  return modes.length > 0 ? modes : [...new Set([...USUAL_MODES, ...outputModes])];
}

const NOT_SIGNED_IN = 'The sign-in that the remote agent requires was declined.';
const USUAL_MODES = ['text/plain', 'application/json'];
const LOST: PeerError = {
  kind: 'later',
  message: 'its stream broke and the task cannot be read any more (stream_lost)',
  code: undefined,
  httpStatus: 200,
};
const STALLED: PeerError = { ...LOST, message: 'its task did not change for too long' };
/** The connection was lost. */
const BROKEN = Symbol('broken');
const SUBSCRIBE_PAUSES_MS = [500, 2_000];
const FIRST_POLL_MS = 200;
const LAST_POLL_MS = 5_000;
const MOST_FAILURES = 5;
const SETTLE_MS = 2_000;
const CANCEL_MS = 10_000;
