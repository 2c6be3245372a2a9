import {
  acpResultFor,
  isObject,
  type JsonObject,
  type QuestionOption,
  questionFromAcpRequest,
  rejectingOption,
} from '@dragoman/protocols';
import type { Call } from '../../call/call.ts';
import { jsonSize } from '../../json/json-size.ts';
import type { AgentPart } from '../agent.ts';
import { AcpProgramError } from './acp-line.ts';
import { AcpParts } from './acp-parts.ts';

/** The reply to a permission request for a kind of tool. */
export type PermissionPolicy = 'allow' | 'ask' | 'deny';

/** Files and terminals for one turn. */
export interface TurnClient {
  offers(method: string): boolean;
  answer(method: string, params: JsonObject): JsonObject | Promise<JsonObject>;
}

/** One prompt while the program answers it: its updates in order, for one reader, and its questions. */
export class AcpTurn {
  readonly #call: Call;
  readonly #policies: Readonly<Record<string, PermissionPolicy>>;
  readonly #client: TurnClient;
  readonly #parts = new AcpParts();
  /** Parts, and callbacks of waiters that run when the parts before them have been read. */
  #queue: (AgentPart | (() => void))[] = [];
  #queuedSize = 0;
  #wake: (() => void) | undefined;
  /** Callbacks of senders that wait for the reader. */
  #onDrained: (() => void)[] = [];
  #isOver = false;

  constructor(call: Call, policies: Readonly<Record<string, PermissionPolicy>>, client: TurnClient) {
    this.#call = call;
    this.#policies = policies;
    this.#client = client;
  }

  get text(): string {
    return this.#parts.text;
  }

  /** Takes an update. Returns a promise where the program has to wait for the reader. */
  update(update: JsonObject): Promise<void> | undefined {
    const part = this.#isOver ? undefined : this.#parts.partOf(update);
    if (part === undefined) return undefined;
    this.#queue.push(part);
    this.#queuedSize += jsonSize(update);
    this.#wake?.();
    if (this.#queuedSize < MOST_UNREAD) return undefined;
    return new Promise((resolve) => this.#onDrained.push(resolve));
  }

  /** No more parts follow. */
  end(): void {
    this.#isOver = true;
    this.#wake?.();
    this.#drain();
    for (const item of this.#queue) if (typeof item === 'function') item();
  }

  #drain(): void {
    for (const resume of this.#onDrained.splice(0)) resume();
  }

  async *parts(): AsyncGenerator<AgentPart, void, undefined> {
    const { signal } = this.#call;
    for (;;) {
      const parts = this.#queue;
      this.#queue = [];
      this.#queuedSize = 0;
      this.#drain();
      for (const part of parts) {
        if (typeof part === 'function') part();
        else yield part;
      }
      if (this.#queue.length > 0) continue;
      if (this.#isOver) return;
      signal.throwIfAborted();
      await new Promise<void>((resolve, reject) => {
        const stop = () => reject(signal.reason);
        signal.addEventListener('abort', stop, { once: true });
        this.#wake = () => {
          signal.removeEventListener('abort', stop);
          resolve();
        };
      });
    }
  }

  /** Answers a request of the program: for files and terminals, for permission or for input. */
  async answer(method: string, params: JsonObject): Promise<JsonObject> {
    if (!this.#isOver && this.#client.offers(method)) {
      await this.#read();
      return this.#client.answer(method, params);
    }
    const question = questionFromAcpRequest(method, params);
    if (question === undefined) throw new AcpProgramError(-32601, `Method not found: ${method}`, null);
    const { toolCall } = params;
    if (question.kind === 'permission' && isObject(toolCall)) {
      // A permission request may be the first message about a tool call.
      await this.update({ sessionUpdate: 'tool_call_update', ...toolCall });
      const decided = this.#decided(String(toolCall['toolCallId']), question.options ?? []);
      if (decided !== undefined) return decided;
    }
    const { ask } = this.#call;
    if (ask === undefined || (question.kind === 'permission' && (question.options ?? []).length === 0))
      return CANCELLED;
    await this.#read();
    try {
      return acpResultFor(question, await ask(question));
    } catch {
      return question.kind === 'permission' ? CANCELLED : { action: 'cancel' };
    }
  }

  /** Resolves when everything before the question has been read. */
  #read(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      this.#queue.push(resolve);
      this.#wake?.();
    });
  }

  /** The answer that the policy gives without a person; only an option that the program offered. */
  #decided(toolCallId: string, options: readonly QuestionOption[]): JsonObject | undefined {
    const kind = this.#parts.kindOf(toolCallId) ?? 'other';
    const policy = this.#policies[kind] ?? (HARMLESS.has(kind) ? 'allow' : 'ask');
    if (policy === 'ask') return undefined;
    const allowing =
      options.find((one) => one.kind === 'allow_once') ?? options.find((one) => one.kind === 'allow_always');
    const chosen = policy === 'allow' ? allowing : rejectingOption({ options: [...options] });
    return chosen === undefined ? undefined : { outcome: { outcome: 'selected', optionId: chosen.id } };
  }
}

const CANCELLED = { outcome: { outcome: 'cancelled' } };
/** Kinds of tool that change nothing. */
const HARMLESS: ReadonlySet<string> = new Set(['read', 'search', 'think', 'fetch']);
/** Bytes of updates. */
const MOST_UNREAD = 1024 * 1024;
