import { isObject } from '@dragoman/protocols';
import type { MailboxInput, MailboxMessage, MailboxResponse } from '@dragoman/protocols/a2a-mailbox';
import type { DragomanError } from './dragoman-error.ts';
import type { Http, JsonRequest } from './http.ts';
import { insist } from './insist.ts';
import { invalidArgument, shown, textGiven, unsayable } from './invalid-argument.ts';
import { randomHex } from './random-hex.ts';
import { type RetryOptions, RetryPauses } from './retry.ts';

export interface MailboxOptions {
  readonly signal?: AbortSignal;
}

/** A page of the messages of a thread, in order. */
export interface MailboxThreadPage {
  readonly threadId: string;
  readonly messages: readonly ((MailboxMessage | MailboxResponse) & { readonly sequence: number })[];
  /** The `after` of the next page; null at the end. */
  readonly next: number | null;
}

export interface ThreadListQuery extends MailboxOptions {
  readonly as?: 'sender' | 'agent';
  /** The `next` of the page before. */
  readonly after?: string | undefined;
  readonly limit?: number;
}

/** A page of threads, in the order of their ids. */
export interface MailboxThreadList {
  readonly threads: readonly {
    readonly threadId: string;
    readonly agent: string;
    readonly sender: string;
    readonly messages: number;
    readonly lastAt: string;
  }[];
  /** The `after` of the next page; null at the end. */
  readonly next: string | null;
}

/** The description of the mailbox. */
export interface MailboxAbout {
  readonly name: string;
  readonly agentId: string | null;
  readonly description: string;
  /** The version of the server. */
  readonly version: string;
  readonly protocol: string;
  readonly specVersion: string;
  readonly endpoint: string;
  readonly contentTypes: readonly string[];
  /** Whether it accepts senders without a key. */
  readonly anonymous: boolean;
  /** The agents that senders without a key may write to. */
  readonly agents: readonly MailboxAgent[];
  readonly limits: {
    readonly requestsPerMinute: number;
    readonly concurrentRequests: number;
    readonly contentCharacters: number;
    readonly contentBytes: number;
  };
  readonly callbacks: {
    readonly publicKey: string;
    readonly signatures: readonly string[];
    /** The timeout of one attempt, and the number of attempts after the first. */
    readonly timeoutSeconds: number;
    readonly retries: number;
  };
}

/** An agent that a message can be sent to. */
export interface MailboxAgent {
  readonly id: string;
  readonly name: string;
  readonly agentId: string | null;
  readonly description: string;
  readonly taskTypes: readonly string[];
}

/** The A2A mailbox of the server, with or without a key. */
export class Mailbox {
  readonly #http: Http;
  readonly #retry: Required<RetryOptions>;

  constructor(http: Http, retry: Required<RetryOptions>) {
    this.#http = http;
    this.#retry = retry;
  }

  /**
   * Sends a message in the specification's format: `{ from: 'MyAgent', message: 'Hello!' }`. Returns the answer. If the
   * answer takes longer or goes to a `callbackUrl`, it returns an acknowledgement: `metadata.status` is `received`, and
   * `replyTo` is the id for `answer`. The message has an id before it is sent, so that a retry cannot send it twice.
   */
  async send(message: MailboxInput, options: MailboxOptions = {}): Promise<MailboxResponse> {
    if (!isObject(message)) throw noMessage(message);
    // The mailbox treats an empty id as none and would create another at every attempt.
    const messageId = message.metadata?.messageId || message.messageId || newMessageId();
    const body = bodyOf({ ...message, metadata: { ...message.metadata, messageId } });
    return this.#insist({ method: 'POST', path: 'a2a', body, signal: options.signal, gives: { metadata: 'object' } });
  }

  /**
   * The answer to an earlier message, or its acknowledgement as long as there is none. `from` is the sender's name: a
   * client without a key must give it if other senders at its address use the same id.
   */
  async find(
    messageId: string,
    { from, signal }: MailboxOptions & { readonly from?: string } = {},
  ): Promise<MailboxResponse> {
    const query = from === undefined ? '' : `?from=${encodeURIComponent(from)}`;
    const path = `a2a/messages/${encodeURIComponent(textGiven(messageId, 'messageId'))}${query}`;
    return this.#insist({ path, signal, gives: { metadata: 'object' } });
  }

  /** Polls until the answer is there: every second, or every `everyMs`. */
  async answer(
    messageId: string,
    { everyMs = 1000, ...options }: MailboxOptions & { readonly from?: string; readonly everyMs?: number } = {},
  ): Promise<MailboxResponse> {
    const pause = new RetryPauses(this.#retry);
    for (;;) {
      const found = await this.find(messageId, options);
      if (found.metadata.status !== 'received') return found;
      await pause.wait(everyMs, options.signal);
    }
  }

  /** A page of your threads, in the order of their ids; with `as: 'agent'`, of the threads that you answered in. */
  async threads({ as = 'sender', after, limit = 50, signal }: ThreadListQuery = {}): Promise<MailboxThreadList> {
    const from = after === undefined ? '' : `&after=${encodeURIComponent(after)}`;
    return this.#insist({ path: `a2a/threads?as=${as}&limit=${limit}${from}`, signal, gives: { threads: 'array' } });
  }

  /** A page of the messages of a thread, after a sequence number. Default: the first fifty. */
  async thread(
    threadId: string,
    { after = 0, limit = 50, signal }: MailboxOptions & { readonly after?: number; readonly limit?: number } = {},
  ): Promise<MailboxThreadPage> {
    const path = `a2a/threads/${encodeURIComponent(textGiven(threadId, 'threadId'))}?after=${after}&limit=${limit}`;
    return this.#insist({ path, signal, gives: { messages: 'array' } });
  }

  /** The description of the mailbox, with the key that signs its callbacks. */
  about(options: MailboxOptions = {}): Promise<MailboxAbout> {
    return this.#http.json({ path: 'agent', signal: options.signal, gives: { name: 'string', callbacks: 'object' } });
  }

  /** Retries a request. Sending is idempotent, because every message has an id. */
  #insist<T>(request: JsonRequest<T>): Promise<T> {
    return insist(this.#http, this.#retry, request);
  }
}

function bodyOf(message: object): string {
  try {
    return JSON.stringify(message);
  } catch (error) {
    throw unsayable('the message', error);
  }
}

/** The error for a text without a sender: every message has one. */
function noMessage(given: unknown): DragomanError {
  const text = typeof given === 'string' ? given : 'Hello!';
  return invalidArgument(
    `a message must be an object with a sender and content; got ${shown(given)}`,
    `send({ from: 'MyAgent', message: ${shown(text)} })`,
  );
}

/** `msg_{timestamp}_{random}`, as the spec has it. */
function newMessageId(): string {
  return `msg_${Date.now()}_${randomHex(8)}`;
}
