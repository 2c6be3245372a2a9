import { hash } from 'node:crypto';
import { type E2AEnvelope, failure, questionEndIn, questionText } from '@dragoman/protocols';
import {
  type A2aBinding,
  type A2aVersion,
  answerInMessage,
  foldOptionsOf,
  isTerminal,
  type ListTasksRequest,
  questionNamed,
  type SendMessageRequest,
  type StreamEvent,
  sendEnvelope,
  type Task,
  TaskFold,
  type TaskState,
} from '@dragoman/protocols/lf-a2a';
import { LRUCache } from 'lru-cache';
import type { Beside, Received } from '../../call/call.ts';
import type { Principal } from '../../call/principal.ts';
import { type BuiltInTarget, isBuiltIn } from '../../call/target.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Clock, Log } from '../../ports/ports.ts';
import { failureOf, Refused, refuse } from '../../refusals/refused.ts';
import { recordedEnvelope } from '../../runs/envelope-record.ts';
import { frameFrom } from '../../runs/frame-text.ts';
import type { Reading } from '../../runs/reading.ts';
import type { FrameRow, ListedRequest, RequestKey, RequestRow, Store } from '../../store/store.ts';
import { targetRequest } from '../../targets/target-request.ts';
import { listedRequests, pageTokenOf, requestQueryOf, stateWithoutFrames, type TaskPage } from './list-tasks.ts';
import { merged } from './merged-chunks.ts';

export interface TasksOptions {
  readonly engine: Engine;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

/** The sender of a message, and how it was received. */
export interface SendContext {
  readonly principal: Principal;
  readonly agentId: string;
  readonly binding: A2aBinding;
  readonly version: A2aVersion;
  readonly jsonrpcId: E2AEnvelope['jsonrpc_id'];
  readonly received: Received;
  readonly signal: AbortSignal;
}

/** The caller that answers a question, and the task of the question. */
export interface AnsweringCaller {
  readonly principal: Principal;
  readonly taskId: string;
  readonly signal: AbortSignal;
}

/** The owner of the tasks. */
type Caller = Pick<Principal, 'id'>;

/** A task, with its current state and its events. */
export interface OpenTask {
  /** The task after the events read so far; before any event, the task as it started. */
  current(): Task;
  /** The events after the start, or after the given event; ends with the task. */
  events(after?: EventId, options?: EventOptions): AsyncIterable<readonly NumberedEvent[]>;
  /** Resolves with the task when `isReached` accepts its state. */
  reached(isReached: (state: TaskState) => boolean): Promise<TaskFold>;
}

export interface EventOptions {
  /** The limit on the characters of text in one event. */
  readonly longest?: number;
  /** Whether the events also end at an open question. Default: false. */
  readonly untilQuestion?: boolean;
}

/** The id `SEQUENCE.N` names the frame of an event. A client sends the last id it received as `Last-Event-ID`. */
export interface NumberedEvent {
  readonly id: string;
  readonly event: StreamEvent;
}

/** The `SEQUENCE.N` of an event. The task at the beginning of a stream comes before all events. */
export interface EventId {
  readonly sequence: number;
  readonly index: number;
}

/** An `EventId` that a client sends back; `undefined` when it is invalid. */
export function eventIdIn(text: string | undefined): EventId | undefined {
  if (text === 'task') return BEFORE_ALL;
  const [, sequence, index] = /^(\d{1,15})\.(\d{1,3})$/.exec(text ?? '') ?? [];
  return sequence === undefined ? undefined : { sequence: Number(sequence), index: Number(index) };
}

/** Requests of the hub as tasks of Linux Foundation A2A: a task is one request, and its context is the session. */
export class LfA2aTasks {
  readonly #options: TasksOptions;
  /** Ended tasks, which do not change. Whether a task still exists is checked in the store each time. */
  readonly #ended = new LRUCache<string, TaskFold>({ maxSize: ENDED_LENGTH, maxEntrySize: ENDED_LENGTH / 8 });

  constructor(options: TasksOptions) {
    this.#options = options;
  }

  /** Records the message as a request. The same message again is the same task; a different one with its id is a conflict. */
  async send(request: SendMessageRequest, context: SendContext): Promise<OpenTask> {
    const { engine, clock, log } = this.#options;
    const { principal, agentId, binding, version, jsonrpcId, received } = context;
    const { messageId, contextId } = request.message;
    const name = hash('sha256', JSON.stringify([agentId, messageId]), 'hex').slice(0, 32);
    const sent = sendEnvelope(request, {
      agentId,
      binding,
      version,
      jsonrpcId,
      callingAgentId: principal.kind === 'agent' ? principal.id : null,
      taskId: `task-${name}`,
      contextId: contextId ?? `context-${name}`,
      now: clock.now(),
    });
    const envelope = isBuiltIn(agentId) ? { ...sent, ...forTarget(agentId, request) } : sent;
    return new Promise((resolve, reject) => {
      const onAccepted: Beside['onAccepted'] = (row, { isRepeat }) =>
        resolve(this.#opened(row, reading, isRepeat ? undefined : envelope));
      const reading = engine.handle(envelope, {
        principal,
        // Read only if needed, because reading it creates it; the request does not end with its reader.
        get signal() {
          return context.signal;
        },
        log,
        beside: { counted: true, received: withoutPushSecrets(request, received), onAccepted },
      });
      // A refusal happens before the request is recorded.
      reading.ready().catch(reject);
    });
  }

  /**
   * Answers the open question of a task; resolves when the task shows the answer. Refuses a message that does not fit
   * the question, which stays open, and a message to a task without an open question.
   */
  async answer(request: SendMessageRequest, { principal, taskId, signal }: AnsweringCaller): Promise<void> {
    const { engine } = this.#options;
    const { questions } = engine;
    const { message } = request;
    const open = await questions.anywhereOf({ owner: principal.id, requestId: taskId });
    const name = questionNamed(message);
    const { question } = open.find((one) => one.question.question_id === name) ?? open[0] ?? {};
    if (question === undefined) refuse('conflict', {}, NO_QUESTION);
    const given = answerInMessage(question, message);
    if (given === undefined) refuseAnswer(questionText(question).split('\n').at(-1) ?? '');
    const { question_id: questionId } = question;
    try {
      await questions.answer({ questionId, requestId: taskId }, given, { principal, channel: 'a2a' });
    } catch (error) {
      const known = failureOf(error);
      if (known?.code === 'invalid_message') refuseAnswer(known.message);
      throw error;
    }
    // An execution records the answer first, and its request a moment later. Until then the task still waits for it.
    for await (const frame of engine.runs.read({ owner: principal.id, requestId: taskId }, -1, signal)) {
      if (questionEndIn(frame)?.question_id === questionId) return;
    }
  }

  /** The task as recorded so far; `undefined` when this caller has no task with this id at this agent. */
  async find(principal: Caller, agentId: string, taskId: string): Promise<TaskFold | undefined> {
    const row = await this.#row(principal, agentId, taskId);
    if (row === undefined) return undefined;
    const name = JSON.stringify([row.owner, row.requestId, row.acceptedAt]);
    const known = this.#ended.get(name);
    if (known !== undefined) return known;
    const fold = foldOf(row);
    const { length } = await this.#foldAll(row, fold);
    if (isTerminal(fold.state)) this.#ended.set(name, fold, { size: length + row.envelope.length });
    return fold;
  }

  /** Applies all recorded frames. Returns their total length, and the sequence of the last one. */
  async #foldAll(row: RequestRow, fold: TaskFold): Promise<{ readonly length: number; readonly last: number }> {
    let after = -1;
    let length = 0;
    for (;;) {
      const rows = await this.#options.engine.runs.page(keyOf(row), { after, limit: 1000, maxBytes: 1 << 20 });
      for (const { text } of rows) {
        fold.apply(frameFrom(text));
        length += text.length;
      }
      const last = rows.at(-1);
      after = last?.sequence ?? after;
      if (last === undefined || last.isFinal) return { length, last: after };
    }
  }

  async has(principal: Caller, agentId: string, taskId: string): Promise<boolean> {
    return (await this.#row(principal, agentId, taskId)) !== undefined;
  }

  /** The task as recorded so far. `lastEvent` is at or after the id of its last event. */
  async progress(
    principal: Caller,
    agentId: string,
    taskId: string,
  ): Promise<{ readonly task: Task; readonly lastEvent: string } | undefined> {
    const row = await this.#row(principal, agentId, taskId);
    if (row === undefined) return undefined;
    const fold = foldOf(row);
    const { last } = await this.#foldAll(row, fold);
    return { task: fold.task(), lastEvent: last < 0 ? 'task' : `${last}.${LAST_INDEX}` };
  }

  /** The tasks of a caller at an agent, newest change first: all requests to this agent, from any protocol. */
  async list({ id: owner }: Caller, agentId: string, request: ListTasksRequest): Promise<TaskPage> {
    const { requests } = this.#options.store;
    const { questions } = this.#options.engine;
    const query = requestQueryOf(request, { owner, agentId });
    const { rows: found, total } = await listedRequests(query, request.status, { requests, questions });
    const rows = found.slice(0, query.limit);
    const { historyLength, includeArtifacts: artifacts = false } = request;
    const tasks: Task[] = [];
    let last: ListedRequest | undefined;
    let left = LIST_BYTES;
    for (const listed of rows) {
      const row = await requests.find(listed);
      last = listed;
      // The request was purged after it was listed.
      if (row === undefined) continue;
      left -= row.envelope.length;
      const fold = foldOf(row);
      const state = artifacts ? undefined : stateWithoutFrames(listed.progress);
      if (state !== undefined) fold.skipTo(state, listed.changedAt);
      else left -= (await this.#foldAll(row, fold)).length;
      tasks.push(fold.task({ historyLength, artifacts }));
      if (left < 0) break;
    }
    const nextPageToken = last === undefined || last === found.at(-1) ? '' : pageTokenOf(last);
    return { tasks, nextPageToken, pageSize: query.limit, totalSize: total ?? rows.length };
  }

  /** Ends a running task and returns it. A task that has ended already is returned unchanged. */
  async cancel(principal: Caller, agentId: string, taskId: string): Promise<TaskFold | undefined> {
    const row = await this.#row(principal, agentId, taskId);
    if (row === undefined) return undefined;
    const { runs } = this.#options.engine;
    runs.cancel(keyOf(row), 'The task was cancelled by its client.');
    return this.#opened(row, runs.read(keyOf(row), -1)).reached(isTerminal);
  }

  /** The task from its first frame on, while it runs and afterwards. */
  async follow(
    principal: Caller,
    agentId: string,
    { taskId, signal }: { readonly taskId: string; readonly signal: AbortSignal },
  ): Promise<OpenTask | undefined> {
    const row = await this.#row(principal, agentId, taskId);
    return row && this.#opened(row, this.#options.engine.runs.read(keyOf(row), -1, signal));
  }

  /** `envelope`: the envelope of the row, if the caller has it already. */
  #opened(row: RequestRow, reading: Reading, envelope = recordedEnvelope(row.envelope)): OpenTask {
    const fold = new TaskFold(foldOptionsOf(envelope, row.acceptedAt));
    const { runs } = this.#options.engine;
    // A question counts as open only if no frame follows, because the next frames may have its answer.
    const isLast = async ({ sequence }: FrameRow) =>
      (await runs.page(keyOf(row), { after: sequence, limit: 1 })).length === 0;
    return {
      current: () => fold.task(),
      async *events(after = BEFORE_ALL, { longest, untilQuestion = false } = {}) {
        let isShown = false;
        for (let rows = await reading.next(); rows.length > 0; rows = await reading.next()) {
          const events = merged(
            rows.flatMap((row) => numbered(row.sequence, fold.apply(reading.frameOf(row)), after)),
            longest,
          );
          if (events.length > 0) yield events;
          isShown = fold.state === 'TASK_STATE_INPUT_REQUIRED' && (isShown || events.some(asksForInput));
          if (untilQuestion && isShown && (await isLast(rows.at(-1) as FrameRow))) return;
        }
      },
      async reached(isReached) {
        for (let rows = await reading.next(); rows.length > 0; rows = await reading.next()) {
          for (const row of rows) fold.apply(reading.frameOf(row));
          if (!isReached(fold.state)) continue;
          if (isTerminal(fold.state) || (await isLast(rows.at(-1) as FrameRow))) return fold;
        }
        // A reader only ends early when the server stops.
        throw new Refused(failure('busy', { retry_after: 5 }, 'The server is stopping.'));
      },
    };
  }

  async #row({ id: owner }: Caller, agentId: string, requestId: string): Promise<RequestRow | undefined> {
    const row = await this.#options.store.requests.find({ owner, requestId });
    return row?.agentId === agentId ? row : undefined;
  }
}

/** The error points to the parts of the message, the only input that the caller knows. */
function refuseAnswer(help: string): never {
  const message = `The message does not answer the question. ${help}`;
  refuse('invalid_message', { issues: [{ pointer: '/message/parts', code: 'answer', message: help }] }, message);
}

/** The received message is recorded with the request, without the secrets of a receiver, which only the vault has. */
function withoutPushSecrets({ configuration, ...request }: SendMessageRequest, received: Received): Received {
  const { taskPushNotificationConfig: config, ...rest } = configuration ?? {};
  if (config === undefined) return received;
  const { token: _, authentication: __, ...shown } = config;
  const text = JSON.stringify({ ...request, configuration: { ...rest, taskPushNotificationConfig: shown } });
  return { dialect: received.dialect, text };
}

/** The request to `tools`, `workflows` or `agents`: the first data part, or the JSON in a text part. */
function forTarget(target: BuiltInTarget, { message }: SendMessageRequest) {
  const { parts } = message;
  const content = parts.find(({ data }) => data !== undefined)?.data ?? parts.map(({ text = '' }) => text).join('');
  const { method, params } = targetRequest(target, content, '/message/parts');
  return { method, params: { ...params } };
}

function asksForInput({ event }: NumberedEvent): boolean {
  return 'statusUpdate' in event && event.statusUpdate.status.state === 'TASK_STATE_INPUT_REQUIRED';
}

/** The events of one frame that the reader does not have. */
function numbered(sequence: number, all: readonly StreamEvent[], after: EventId): NumberedEvent[] {
  if (sequence < after.sequence) return [];
  const events = all.map((event, index) => ({ id: `${sequence}.${index}`, event }));
  return sequence === after.sequence ? events.slice(after.index + 1) : events;
}

function foldOf(row: RequestRow): TaskFold {
  return new TaskFold(foldOptionsOf(recordedEnvelope(row.envelope), row.acceptedAt));
}

function keyOf({ owner, requestId }: RequestRow): RequestKey {
  return { owner, requestId };
}

const NO_QUESTION = 'The task does not wait for an answer.';
/** Characters of envelopes and frames that are read for one page; a page that needs more is shorter. */
const LIST_BYTES = 8 << 20;
/** The limit on the characters of all ended tasks in memory together. */
const ENDED_LENGTH = 16 << 20;
/** Higher than the index of any event of a frame. */
const LAST_INDEX = 999;
const BEFORE_ALL: EventId = { sequence: -1, index: 0 };
