import { textOfResult } from '../e2a/adapters/result-text.ts';
import { type AnswerEnd, answerEnd, stopReasonIn } from '../e2a/answer-end.ts';
import type { E2AEnvelope } from '../e2a/envelope.ts';
import { isKeepalive } from '../e2a/invariants.ts';
import type { Question, QuestionAnswer, QuestionEnd } from '../e2a/question.ts';
import { questionText } from '../e2a/question-text.ts';
import { questionEndIn, questionIn } from '../e2a/read-question.ts';
import type { E2AResponse } from '../e2a/response.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { filePart } from './file-part.ts';
import { changesIn, type FrameChange } from './frame-changes.ts';
import type { Artifact, ArtifactUpdate, Message, MessagePart, StreamEvent, Task, TaskStatus } from './shapes.ts';
import { type TaskState, waitingState } from './states.ts';

export interface TaskFoldOptions {
  readonly taskId: string;
  readonly contextId: string;
  /** The message that the caller sent, when it was an A2A message. */
  readonly message?: Message | undefined;
  /** When the request was recorded. */
  readonly acceptedAt: string;
}

/**
 * The frames of one request as the events of one task. The same frames always give the same events, so every subscriber
 * sees the same stream, whenever it joins and after any restart.
 *
 *   SUBMITTED ──first frame──▶ WORKING ──final frame──▶ COMPLETED | FAILED | CANCELED | REJECTED
 *                               │  ▲──its last question ends──│
 *                               └──question──▶ INPUT_REQUIRED | AUTH_REQUIRED
 */
export class TaskFold {
  readonly #options: TaskFoldOptions;
  readonly #artifacts = new Map<string, { text: string[]; parts: MessagePart[] }>();
  /** The open questions, oldest first. The status shows the oldest. */
  readonly #questions = new Map<string, Question>();
  readonly #history: Message[];
  #status: TaskStatus;
  #metadata: JsonObject = {};

  constructor(options: TaskFoldOptions) {
    this.#options = options;
    const { message, taskId, contextId } = options;
    this.#history = message === undefined ? [] : [{ ...message, taskId, contextId }];
    this.#status = { state: 'TASK_STATE_SUBMITTED', timestamp: options.acceptedAt };
  }

  get state(): TaskState {
    return this.#status.state;
  }

  /** The events of one more frame, in order. */
  apply(frame: E2AResponse): StreamEvent[] {
    if (isKeepalive(frame)) return [];
    const events: StreamEvent[] = [];
    if (this.state === 'TASK_STATE_SUBMITTED' && !frame.is_final) {
      events.push(this.#become('TASK_STATE_WORKING', frame));
    }
    if (!frame.is_final) return [...events, ...this.#progress(frame)];
    return [...events, ...this.#end(frame)];
  }

  /** Sets the state without the frames that led to it, for a list, which shows no artifacts. */
  skipTo(state: TaskState, at: number): void {
    this.#status = { state, timestamp: new Date(at).toISOString() };
  }

  /** The current task. `historyLength` limits the history to this number of the newest messages. Default: all. */
  task({ historyLength, artifacts = true }: { historyLength?: number | undefined; artifacts?: boolean } = {}): Task {
    const { taskId, contextId } = this.#options;
    const { length } = this.#history;
    const shown = this.#history.slice(length - Math.min(historyLength ?? length, length));
    const all = artifacts ? [...this.#artifacts.keys()].map((id) => this.#artifact(id)) : [];
    return {
      id: taskId,
      contextId,
      status: this.#status,
      ...(all.length > 0 && { artifacts: all }),
      ...(shown.length > 0 && { history: shown }),
      ...(Object.keys(this.#metadata).length > 0 && { metadata: this.#metadata }),
    };
  }

  #progress(frame: E2AResponse): StreamEvent[] {
    const question = questionIn(frame);
    if (question !== undefined) return this.#question(question, frame);
    const end = questionEndIn(frame);
    if (end !== undefined) return this.#resolved(end, frame);
    return changesIn(frame).flatMap((change) => {
      if (!('news' in change)) return [this.#change(change)];
      // A status that shows a question stays until the question ends.
      return this.#questions.size > 0 ? [] : [this.#become('TASK_STATE_WORKING', frame, change.news)];
    });
  }

  #change(change: Exclude<FrameChange, { news: unknown }>): StreamEvent {
    return 'text' in change ? this.#addText(change.text) : this.#merge(change);
  }

  #question(question: Question, frame: E2AResponse): StreamEvent[] {
    this.#questions.set(question.question_id, question);
    return this.#questions.size === 1 ? [this.#show(question, frame)] : [];
  }

  #resolved({ question_id: id, answer }: QuestionEnd, frame: E2AResponse): StreamEvent[] {
    const [shown] = this.#questions.keys();
    if (!this.#questions.delete(id)) return [];
    if (shown === id && this.#status.message !== undefined) this.#history.push(this.#status.message);
    if (answer !== undefined && answer.by !== null) {
      this.#history.push(this.#message('ROLE_USER', frame, [answerPart(answer)]));
    }
    if (shown !== id) return [];
    const [next] = this.#questions.values();
    return [next === undefined ? this.#become('TASK_STATE_WORKING', frame) : this.#show(next, frame)];
  }

  /** The text is complete by itself, because many clients show nothing else. */
  #show(question: Question, frame: E2AResponse): StreamEvent {
    return this.#become(waitingState(question), frame, [
      { text: questionText(question) },
      { data: question as unknown as JsonObject },
    ]);
  }

  #end(frame: E2AResponse): StreamEvent[] {
    const { body, response_kind: kind, status } = frame;
    const state = STATE_AT_END[answerEnd(frame)];
    if (kind === 'e2a.error' || status === 'failed') {
      const text = typeof body['message'] === 'string' ? body['message'] : 'The agent failed.';
      this.#metadata = errorMetadata(body);
      const { details } = body;
      const data = isObject(details) && Object.keys(details).length > 0 ? [{ data: details }] : [];
      return [this.#become(state, frame, [{ text }, ...data])];
    }
    const reason = stopReasonIn(frame);
    if (reason !== undefined && reason !== 'end_turn') this.#metadata = { stop_reason: reason };
    const changes = changesIn(frame);
    const news = changes.findLast((change) => 'news' in change)?.news;
    const last = changes.flatMap((change) => ('news' in change ? [] : [this.#change(change)]));
    const result = kind === 'e2a.complete' ? (body['result'] ?? null) : null;
    return [...last, ...this.#result(result), this.#become(state, frame, news)];
  }

  /** Streamed text is not repeated; the rest of the result is added. */
  #result(result: Json): StreamEvent[] {
    const text = textOfResult(result) ?? '';
    const streamed = this.#artifacts.get(ANSWER)?.text.join('') ?? '';
    const events: StreamEvent[] = [];
    if (text !== '' && !streamed.startsWith(text)) {
      if (text.startsWith(streamed)) events.push(this.#addText(text.slice(streamed.length)));
      else events.push(this.#put('result', { text }));
    }
    const files = filesIn(result);
    for (const [index, file] of files.entries()) events.push(this.#put(`file-${index}`, file));
    const data = beyondText(result, files.length > 0);
    if (data !== undefined) {
      const part = { data };
      const answer = this.#answer();
      const isNew = answer.text.length === 0 && answer.parts.length === 0;
      answer.parts.push(part);
      events.push(this.#update(ANSWER, [part], { append: !isNew, lastChunk: true }));
    } else if (this.#artifacts.has(ANSWER)) {
      events.push(this.#update(ANSWER, [{ text: '' }], { append: true, lastChunk: true }));
    }
    return events;
  }

  #addText(text: string): StreamEvent {
    const append = this.#artifacts.has(ANSWER);
    this.#answer().text.push(text);
    return this.#update(ANSWER, [{ text }], { append, lastChunk: false });
  }

  #answer() {
    const known = this.#artifacts.get(ANSWER);
    if (known !== undefined) return known;
    const made: { text: string[]; parts: MessagePart[] } = { text: [], parts: [] };
    this.#artifacts.set(ANSWER, made);
    return made;
  }

  #put(artifact: string, part: MessagePart): StreamEvent {
    return this.#merge({ artifact, parts: [part], append: false, isWhole: true });
  }

  #merge({ artifact, parts, append, isWhole }: Extract<FrameChange, { artifact: string }>): StreamEvent {
    const known = append ? this.#artifacts.get(artifact) : undefined;
    const held = known ?? { text: [], parts: [] };
    for (const part of parts) {
      const text = plainText(part);
      if (text === undefined) held.parts.push(part);
      else held.text.push(text);
    }
    this.#artifacts.set(artifact, held);
    return this.#update(artifact, parts, { append: known !== undefined, lastChunk: isWhole });
  }

  #update(
    suffix: string,
    parts: MessagePart[],
    { append, lastChunk }: Pick<ArtifactUpdate, 'append' | 'lastChunk'>,
  ): StreamEvent {
    const { taskId, contextId } = this.#options;
    return {
      artifactUpdate: { taskId, contextId, artifact: { artifactId: this.#idOf(suffix), parts }, append, lastChunk },
    };
  }

  #artifact(suffix: string): Artifact {
    const { text, parts } = this.#artifacts.get(suffix) ?? { text: [], parts: [] };
    const joined = text.join('');
    return { artifactId: this.#idOf(suffix), parts: [...(joined === '' ? [] : [{ text: joined }]), ...parts] };
  }

  #idOf(suffix: string): string {
    return `${this.#options.taskId}-${suffix}`;
  }

  #become(state: TaskState, frame: E2AResponse, parts?: MessagePart[]): StreamEvent {
    const { taskId, contextId } = this.#options;
    const message = parts && this.#message('ROLE_AGENT', frame, parts);
    this.#status = {
      state,
      timestamp: frame.timestamp ?? this.#options.acceptedAt,
      ...(message !== undefined && { message }),
    };
    const metadata = frame.is_final && Object.keys(this.#metadata).length > 0 ? this.#metadata : undefined;
    return { statusUpdate: { taskId, contextId, status: this.#status, ...(metadata !== undefined && { metadata }) } };
  }

  #message(role: Message['role'], frame: E2AResponse, parts: MessagePart[]): Message {
    const { taskId, contextId } = this.#options;
    return { messageId: frame.response_id ?? `${taskId}-${frame.sequence}`, role, parts, taskId, contextId };
  }
}

function answerPart({ action, option_id: option, content }: QuestionAnswer): MessagePart {
  return content === undefined ? { text: option ?? action } : { data: content };
}

/** The parts of a request that a task shows. */
export function foldOptionsOf(envelope: E2AEnvelope, acceptedAt: number): TaskFoldOptions {
  const { message } = envelope.params;
  const taskId = envelope.request_id ?? '';
  return {
    taskId,
    contextId: envelope.context_id ?? envelope.session_id ?? taskId,
    // Only the endpoint puts a whole A2A message there; the server's own targets get parameters instead.
    message: isA2aMessage(message, envelope) ? message : undefined,
    acceptedAt: new Date(acceptedAt).toISOString(),
  };
}

function isA2aMessage(message: unknown, { provenance, message_id: id }: E2AEnvelope): message is Message {
  if (provenance.source_protocol !== 'a2a' || typeof message !== 'object' || message === null) return false;
  return (message as Partial<Message>).messageId === id;
}

function errorMetadata({ code, details }: JsonObject): JsonObject {
  const retryable = isObject(details) ? details['retryable'] : undefined;
  return { e2a_code: code ?? null, ...(retryable !== undefined && { retryable }) };
}

/** The text of a part without other members, such as a media type; `undefined` for any other part. */
export function plainText(part: MessagePart): string | undefined {
  return Object.keys(part).length === 1 ? part.text : undefined;
}

/**
 * The files of a result. None if one of them cannot be read: all of them then stay in the data, so that nothing is
 * lost.
 */
function filesIn(result: Json): MessagePart[] {
  const { files } = isObject(result) ? result : {};
  const parts = Array.isArray(files) ? files.map(filePart) : [];
  return parts.every((part) => part !== undefined) ? parts : [];
}

/** The members of a result that its text and its files do not carry. */
function beyondText(result: Json, hasFiles: boolean): Json | undefined {
  if (!isObject(result)) return typeof result === 'string' || result === null ? undefined : result;
  const text = textOfResult(result);
  const { stop_reason: _, files, ...members } = result;
  const all = { ...members, ...(files !== undefined && !hasFiles && { files }) };
  const rest = Object.entries(all).filter(([name, value]) => !(TEXT_MEMBERS.has(name) && value === text));
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

/** The final state of a task, by the end of its request. */
export const STATE_AT_END = {
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  cancelled: 'TASK_STATE_CANCELED',
  refused: 'TASK_STATE_REJECTED',
} as const satisfies Record<AnswerEnd, TaskState>;

const TEXT_MEMBERS: ReadonlySet<string> = new Set(['content', 'text', 'output']);
const ANSWER = 'answer';
