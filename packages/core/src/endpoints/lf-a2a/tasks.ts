import { hash } from 'node:crypto';
import { type E2AEnvelope, failure } from '@dragoman/protocols';
import {
  type A2aVersion,
  foldOptionsOf,
  isTerminal,
  type SendMessageRequest,
  type StreamEvent,
  sendEnvelope,
  type Task,
  TaskFold,
} from '@dragoman/protocols/lf-a2a';
import type { Received } from '../../call.ts';
import type { Engine } from '../../engine.ts';
import type { Clock, Log } from '../../ports.ts';
import type { Principal } from '../../principal.ts';
import { Refused } from '../../refused.ts';
import { recordedEnvelope } from '../../runs/envelope-record.ts';
import { frameFrom } from '../../runs/frame-text.ts';
import type { Reading } from '../../runs/reading.ts';
import type { FrameRow, RequestKey, RequestRow, Store } from '../../store/store.ts';
import { type BuiltInTarget, isBuiltIn } from '../../target.ts';
import { targetRequest } from '../../targets/target-request.ts';
import { merged } from './merged-chunks.ts';

export interface TasksOptions {
  readonly engine: Engine;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

/** Who sends a message, and how it came. */
export interface SendContext {
  readonly principal: Principal;
  readonly agentId: string;
  readonly binding: 'JSONRPC' | 'HTTP+JSON';
  readonly version: A2aVersion;
  readonly jsonrpcId: E2AEnvelope['jsonrpc_id'];
  readonly received: Received;
  readonly signal: AbortSignal;
}

/** A task and the way to what becomes of it. */
export interface OpenTask {
  /** As it was when it was opened. */
  readonly task: Task;
  /** Everything after that, or after one of the events; ends with the task. */
  events(after?: EventId): AsyncIterable<readonly NumberedEvent[]>;
  /** The task when it has ended. */
  ended(): Promise<TaskFold>;
}

/** The id says which frame an event was made of: `SEQUENCE.N`. A client sends the last one it has as `Last-Event-ID`. */
export interface NumberedEvent {
  readonly id: string;
  readonly event: StreamEvent;
}

/** The `SEQUENCE.N` of an event. The task at the beginning of a stream comes before all of them. */
export interface EventId {
  readonly sequence: number;
  readonly index: number;
}

/** Requests of the hub as tasks of Linux Foundation A2A: a task is one request, and its context is the session. */
export class LfA2aTasks {
  readonly #options: TasksOptions;

  constructor(options: TasksOptions) {
    this.#options = options;
  }

  /** Records the message as a request. The same message again is the same task; another one under its id is a conflict. */
  async send(request: SendMessageRequest, context: SendContext): Promise<OpenTask> {
    const { engine, clock, log } = this.#options;
    const { principal, agentId, received, signal } = context;
    const { messageId, contextId } = request.message;
    const name = hash('sha256', JSON.stringify([agentId, messageId]), 'hex').slice(0, 32);
    const sent = sendEnvelope(request, {
      ...context,
      taskId: `task-${name}`,
      contextId: contextId ?? `context-${name}`,
      now: clock.now(),
    });
    const source_agent_id = principal.role === 'agent' ? principal.id : null;
    const envelope = { ...sent, source_agent_id, ...(isBuiltIn(agentId) && forTarget(agentId, request)) };
    return new Promise((resolve, reject) => {
      const onAccepted = (row: RequestRow) => resolve(opened(row, reading));
      const reading = engine.handle(envelope, {
        principal,
        signal,
        log,
        beside: { counted: true, received, onAccepted },
      });
      // Whatever refuses it does so before it is recorded.
      reading.ready().catch(reject);
    });
  }

  /** The task as recorded so far; `undefined` when there is none of this id at this agent for this caller. */
  async find(principal: Principal, agentId: string, taskId: string): Promise<TaskFold | undefined> {
    const row = await this.#row(principal, agentId, taskId);
    if (row === undefined) return undefined;
    const fold = foldOf(row);
    let after = -1;
    for (;;) {
      const rows = await this.#options.engine.runs.page(keyOf(row), { after, limit: 1000, maxBytes: 1 << 20 });
      for (const frame of rows) fold.apply(frameFrom(frame.text));
      const last = rows.at(-1);
      if (last === undefined || last.isFinal) return fold;
      after = last.sequence;
    }
  }

  /** Ends a running task and returns it; one that has ended already is returned as it is. */
  async cancel(principal: Principal, agentId: string, taskId: string): Promise<TaskFold | undefined> {
    const row = await this.#row(principal, agentId, taskId);
    if (row === undefined) return undefined;
    const { runs } = this.#options.engine;
    runs.cancel(keyOf(row), 'The task was cancelled by its client.');
    return opened(row, runs.read(keyOf(row), -1)).ended();
  }

  /** The task from its first frame on, while it runs and afterwards. */
  async follow(
    principal: Principal,
    agentId: string,
    { taskId, signal }: { readonly taskId: string; readonly signal: AbortSignal },
  ): Promise<OpenTask | undefined> {
    const row = await this.#row(principal, agentId, taskId);
    return row && opened(row, this.#options.engine.runs.read(keyOf(row), -1, signal));
  }

  async #row({ id: owner }: Principal, agentId: string, requestId: string): Promise<RequestRow | undefined> {
    const row = await this.#options.store.requests.find({ owner, requestId });
    return row?.agentId === agentId ? row : undefined;
  }
}

/** What is asked of `tools`, `workflows` or `agents`: the first data part, or the text of one. */
function forTarget(target: BuiltInTarget, { message }: SendMessageRequest) {
  const { parts } = message;
  const content = parts.find(({ data }) => data !== undefined)?.data ?? parts.map(({ text = '' }) => text).join('');
  const { method, params } = targetRequest(target, content, '/message/parts');
  return { method, params: { ...params } };
}

function opened(row: RequestRow, reading: Reading): OpenTask {
  const fold = foldOf(row);
  return {
    task: fold.task(),
    async *events(after = BEFORE_ALL) {
      for (let rows = await reading.next(); rows.length > 0; rows = await reading.next()) {
        const events = merged(rows.flatMap((frame) => numbered(frame, fold, after)));
        if (events.length > 0) yield events;
      }
    },
    async ended() {
      for (let rows = await reading.next(); rows.length > 0; rows = await reading.next()) {
        for (const frame of rows) fold.apply(frameFrom(frame.text));
      }
      // A reader is let go before the end only when the server stops.
      if (!isTerminal(fold.state)) throw new Refused(failure('busy', { retry_after: 5 }, 'The server is stopping.'));
      return fold;
    },
  };
}

/** The fold needs every frame, also those whose events the reader has. */
function numbered({ sequence, text }: FrameRow, fold: TaskFold, after: EventId): NumberedEvent[] {
  const events = fold.apply(frameFrom(text)).map((event, index) => ({ id: `${sequence}.${index}`, event }));
  if (sequence < after.sequence) return [];
  return sequence === after.sequence ? events.slice(after.index + 1) : events;
}

function foldOf(row: RequestRow): TaskFold {
  return new TaskFold(foldOptionsOf(recordedEnvelope(row.envelope), row.acceptedAt));
}

function keyOf({ owner, requestId }: RequestRow): RequestKey {
  return { owner, requestId };
}

const BEFORE_ALL: EventId = { sequence: -1, index: 0 };
