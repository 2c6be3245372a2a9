import { failure, type Json, type JsonObject } from '@dragoman/protocols';
import {
  isTerminal,
  isThought,
  type MessagePart,
  type PeerArtifact,
  type PeerEvent,
  type PeerIds,
  type PeerMessage,
  type PeerStatus,
  type TaskState,
} from '@dragoman/protocols/lf-a2a';
import { jsonSize } from '../../json/json-size.ts';
import { type AgentPart, agentFailed } from '../agent.ts';
import { ArtifactText } from './artifact-text.ts';

/**
 * The events of one remote task as the parts of one answer.
 *
 *   open ──task, status, artifact or message──▶ open ──an end state──▶ over
 *     │  ▲──answered──│
 *     └──INPUT_REQUIRED──▶ waiting
 *
 * The text of artifacts is the answer. The text of status messages is progress. Some agents send everything in status
 * messages, so when a task ends without text in an artifact, its last message is the answer. An agent may also answer
 * with messages and no task at all.
 */
export class PeerAnswer {
  taskId: string | undefined;
  contextId: string | undefined;
  readonly #artifacts = new Map<string, HeldArtifact>();
  /** The text that the reader has, over all artifacts, and the id of the artifact that its end is from. */
  #given = '';
  #lastGiven: string | undefined;
  #endsLine = false;
  #state: TaskState | undefined;
  #hasTask = false;
  /** A whole task was received, so messages belong to it. */
  #sawTask = false;
  /** The agent's last message in a status, and its last message in the history. */
  #lastMessage: PeerMessage | undefined;
  #recalled: PeerMessage | undefined;
  /** The last question that was answered: a task that is sent again with this question does not ask it again. */
  #answered: PeerMessage | undefined;
  #lastNews = '';
  /** The reasoning in status messages. Some agents send it once more in the artifact. */
  #newsThoughts = '';
  /** Characters of everything in the artifacts. */
  #size = 0;

  get state(): TaskState | undefined {
    return this.#state;
  }

  /** Whether the agent has sent anything. Then the request must not be sent a second time. */
  get hasStarted(): boolean {
    return this.#hasTask || this.#artifacts.size > 0;
  }

  /** No event can change how the task ends; its content may still be sent once more. */
  get isOver(): boolean {
    return this.#state !== undefined && isTerminal(this.#state);
  }

  /** Whether the task waits for an answer: it continues with the next message. */
  get isWaiting(): boolean {
    return this.#state === 'TASK_STATE_INPUT_REQUIRED';
  }

  /** Whether a person has to authorize the task elsewhere. It then continues by itself. */
  get needsSignIn(): boolean {
    return this.#state === 'TASK_STATE_AUTH_REQUIRED';
  }

  /** The agent's last status message: the question, where it asks one. */
  get lastMessage(): { readonly parts: readonly MessagePart[]; readonly text: string } {
    const parts = this.#lastMessage?.parts ?? [];
    return { parts, text: textOfParts(parts) };
  }

  /** The question was answered: the task continues. */
  resume(): void {
    this.#answered = this.#lastMessage;
    this.#lastMessage = undefined;
    this.#state = 'TASK_STATE_WORKING';
  }

  /** Whether the agent has answered with messages and no task. They are the whole answer. */
  get isMessageOnly(): boolean {
    return !this.#hasTask && this.#artifacts.has(MESSAGES);
  }

  /** The parts that one more event adds for the reader. */
  apply(event: PeerEvent): AgentPart[] {
    this.#learn(event);
    switch (event.kind) {
      case 'message':
        return this.#message(event);
      case 'status':
        this.#hasTask = true;
        return this.#status(event.status);
      case 'artifact':
        this.#hasTask = true;
        return this.#artifact(event.artifact, event.append ? 'append' : 'replace');
      case 'task': {
        this.#hasTask = true;
        this.#sawTask = true;
        const last = event.history.findLast(({ isFromAgent, parts }) => isFromAgent && textOfParts(parts) !== '');
        this.#recalled = isSameMessage(last, this.#answered) ? undefined : last;
        const parts = event.artifacts.flatMap((artifact) => this.#artifact(artifact, 'remember'));
        return isSameMessage(event.status.message, this.#answered) ? parts : [...parts, ...this.#status(event.status)];
      }
    }
  }

  /** The last parts: the rest of the text, and how the answer ended. */
  end(): AgentPart[] {
    const parts: AgentPart[] = [];
    switch (this.#state) {
      case 'TASK_STATE_FAILED':
        return [this.#error('A2A.TASK_FAILED', 'The remote agent reported that the task failed.')];
      case 'TASK_STATE_REJECTED':
        return [this.#error('A2A.TASK_REJECTED', 'The remote agent rejected the task.')];
      case 'TASK_STATE_CANCELED':
        return [{ part: 'failure', failure: failure('cancelled', {}, 'The remote agent cancelled the task.') }];
      default: {
        const hasText = [...this.#artifacts.values()].some(({ text }) => text.length > 0);
        const message = this.#lastMessage ?? this.#recalled;
        if (!hasText && message !== undefined)
          parts.push(...this.#artifact({ id: STATUS, parts: message.parts }, 'replace'));
        if (this.#hasTask || this.#artifacts.size > 0) return [...parts, { part: 'complete', result: this.#result() }];
        return [agentFailed('The remote agent ended without an answer.')];
      }
    }
  }

  #learn({ taskId, contextId }: PeerIds): void {
    this.taskId ??= taskId;
    this.contextId = contextId ?? this.contextId;
  }

  /** Before any task, messages are the answer or pieces of it; within a task they are progress. */
  #message(message: PeerMessage): AgentPart[] {
    if (!message.isFromAgent) return [];
    if (!this.#sawTask && !this.#hasArtifactText())
      return this.#artifact({ id: MESSAGES, parts: message.parts }, 'append');
    this.#lastMessage = message;
    return this.#news(this.#state, message);
  }

  #status({ state, message }: PeerStatus): AgentPart[] {
    if (message?.isFromAgent === true && message.parts.length > 0) this.#lastMessage = message;
    // The first end state counts: a task that has ended cannot work again.
    if (state !== undefined && !this.isOver) this.#state = state;
    return message?.isFromAgent === true ? this.#news(state, message) : [];
  }

  /** The parts for a status message. A task that is sent again repeats its last status, which is reported once. */
  #news(state: TaskState | undefined, { parts }: PeerMessage): AgentPart[] {
    const thoughts = thoughtsIn(parts);
    const text = textOfParts(parts);
    const data = parts.flatMap((part) => (part.data === undefined ? [] : [part.data]));
    const delta: JsonObject = {
      event_type: 'a2a.status',
      ...(state !== undefined && { state }),
      ...(text !== '' && { text }),
      ...(data.length > 0 && { data }),
    };
    const news = JSON.stringify(delta);
    const isNew = news !== this.#lastNews && (text !== '' || data.length > 0);
    // A question has a frame of its own.
    if (!isNew || this.isWaiting || this.needsSignIn) return [];
    this.#lastNews = news;
    if (this.#newsThoughts.length < MOST_THOUGHTS) this.#newsThoughts += thoughts.join('').slice(0, MOST_THOUGHTS);
    return [...reasoning(thoughts), { part: 'chunk', body: { delta_kind: 'custom', delta } }];
  }

  #artifact({ id, parts }: PeerArtifact, how: Change): AgentPart[] {
    const held = this.#held(id, parts);
    const others = parts.filter(({ text }) => text === undefined);
    const size = others.reduce((sum, part) => sum + sizeOf(part), 0);
    const text = parts.flatMap((part) => (part.text === undefined || isThought(part) ? [] : [part.text])).join('');
    this.#size -= held.text.length + held.size;
    const fresh = held.text[how](text);
    if (how === 'append') {
      held.others = held.others.concat(others);
      held.size += size;
    } else if (how === 'replace' || others.length >= held.others.length) {
      held.others = others;
      held.size = size;
    }
    this.#size += held.text.length + held.size;
    if (this.#size > MOST_CHARACTERS) return [tooLarge(`${MOST_CHARACTERS} characters`)];
    if (this.#artifacts.size > MOST_ARTIFACTS) return [tooLarge(`${MOST_ARTIFACTS} artifacts`)];
    const thoughts = how === 'remember' ? [] : thoughtsIn(parts).filter((one) => !this.#newsThoughts.includes(one));
    return [...reasoning(thoughts), ...this.#chunk(id, fresh)];
  }

  /** The new text of an artifact. A line break separates it from another artifact. */
  #chunk(id: string, fresh: string): AgentPart[] {
    if (fresh === '') return [];
    const isSame = this.#lastGiven === undefined || this.#lastGiven === id;
    const separator = isSame || this.#endsLine ? '' : SEPARATOR;
    this.#lastGiven = id;
    this.#endsLine = fresh.endsWith('\n');
    this.#given += separator + fresh;
    return [{ part: 'chunk', body: { delta_kind: 'text', delta: separator + fresh } }];
  }

  /** The artifact with this id. Agents that send messages piece by piece may send them all again as an artifact. */
  #held(id: string, parts: readonly MessagePart[]): HeldArtifact {
    const known = this.#artifacts.get(id);
    if (known !== undefined) return known;
    const messages = this.#artifacts.get(MESSAGES);
    const text = parts.map((part) => part.text ?? '').join('');
    const length = messages?.text.length ?? 0;
    const isRepeat =
      messages !== undefined && length > 0 && text.length >= length && text.startsWith(messages.text.text);
    const held = isRepeat ? messages : { text: new ArtifactText(), others: [], size: 0 };
    if (isRepeat) {
      this.#artifacts.delete(MESSAGES);
      if (this.#lastGiven === MESSAGES) this.#lastGiven = id;
    }
    this.#artifacts.set(id, held);
    return held;
  }

  /** `null` where the reader has everything: the streamed text is then the result. */
  #result(): Json {
    const texts: string[] = [];
    for (const { text: held } of this.#artifacts.values()) {
      if (held.length === 0) continue;
      if (texts.at(-1)?.endsWith('\n') === false) texts.push(SEPARATOR);
      texts.push(held.text);
    }
    const text = texts.join('');
    const others = [...this.#artifacts.values()].flatMap((held) => held.others);
    const files = others.flatMap(fileOf);
    const data = others.flatMap((part) => (part.data === undefined ? [] : [part.data]));
    // Text that the reader has cannot be taken back, so the result has the current text of every artifact.
    if (files.length === 0 && data.length === 0 && text === this.#given) return null;
    return { ...(text !== '' && { text }), ...(files.length > 0 && { files }), ...(data.length > 0 && { data }) };
  }

  #error(code: string, message: string): AgentPart {
    const { text, parts } = this.lastMessage;
    const data = parts.flatMap((part) => (part.data === undefined ? [] : [part.data]));
    const external = { protocol: 'a2a', type: this.#state ?? '', payload: { taskId: this.taskId ?? null } };
    return {
      part: 'frame',
      frame: {
        response_kind: 'e2a.error',
        is_final: true,
        status: 'failed',
        body: {
          code,
          message: text === '' ? message : text,
          details: { retryable: false, ...(data.length > 0 && { data }) },
          external,
        },
      },
    };
  }

  #hasArtifactText(): boolean {
    return [...this.#artifacts].some(([id, { text }]) => id !== MESSAGES && text.length > 0);
  }
}

interface HeldArtifact {
  readonly text: ArtifactText;
  /** Parts that are not text. */
  others: MessagePart[];
  /** The characters of `others`. */
  size: number;
}

type Change = 'append' | 'replace' | 'remember';

/** The text of a message, without the agent's reasoning. */
export function textOfParts(parts: readonly MessagePart[]): string {
  return parts.flatMap((part) => (part.text === undefined || isThought(part) ? [] : [part.text])).join('\n');
}

/** Compares ids where the agent sends them. */
function isSameMessage(one: PeerMessage | undefined, other: PeerMessage | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  if (one.id !== undefined || other.id !== undefined) return one.id === other.id;
  return JSON.stringify(one.parts) === JSON.stringify(other.parts);
}

function thoughtsIn(parts: readonly MessagePart[]): string[] {
  return parts.flatMap((part) => (isThought(part) && part.text !== '' ? [part.text ?? ''] : []));
}

function reasoning(thoughts: readonly string[]): AgentPart[] {
  return thoughts.map((delta) => ({ part: 'chunk', body: { delta_kind: 'reasoning', delta } }));
}

/** A file reference of E2A. Bytes that were received with the file become a `data:` URL. */
function fileOf({ url, raw, filename, mediaType }: MessagePart): JsonObject[] {
  if (url === undefined && raw === undefined) return [];
  const uri = url ?? `data:${mediaType ?? 'application/octet-stream'};base64,${raw}`;
  return [
    {
      uri,
      ...(filename !== undefined && { name: filename }),
      ...(mediaType !== undefined && { mime_type: mediaType }),
    },
  ];
}

function sizeOf({ url = '', raw = '', data = null }: MessagePart): number {
  return url.length + raw.length + jsonSize(data);
}

function tooLarge(limit: string): AgentPart {
  return agentFailed(`The answer has more than ${limit}.`);
}

/** Artifact ids for messages without a task and for status messages. No agent's id starts with NUL. */
const MESSAGES = '\0messages';
const STATUS = '\0status';
const SEPARATOR = '\n\n';
const MOST_CHARACTERS = 16 * 1024 * 1024;
const MOST_ARTIFACTS = 1000;
const MOST_THOUGHTS = 64 * 1024;
