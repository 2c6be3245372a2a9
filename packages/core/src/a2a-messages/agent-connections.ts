import { failure } from '@dragoman/protocols';
import { type A2AMessage, QUESTION_METHOD } from '@dragoman/protocols/a2a-messages';
import { AwaitedConnections } from '../agents/awaited-connections.ts';
import { Refused, refuse } from '../refusals/refused.ts';
import type { MessageRead } from './read-message.ts';

/** A connection that an authenticated caller has opened to this server. */
export interface OpenConnection {
  /** Sends a message that is not an answer. */
  send(message: A2AMessage): unknown;
  /** Aborts when the connection is over. */
  readonly signal: AbortSignal;
}

/** A message received over a connection in answer to a message of this server. */
export interface ConnectionAnswer {
  readonly read: MessageRead;
  readonly message: A2AMessage;
}

export interface AgentConnectionsOptions {
  /** Called for each connection of a caller, and when its last one is gone. */
  readonly onChanged?: (callerId: string, isConnected: boolean) => void;
}

/**
 * Connected callers, and the messages that wait for their answers. A caller may be connected more than once, for example when it
 * reconnects before its old connection is found dead; messages are sent over the newest.
 */
export class AgentConnections {
  readonly #open = new Map<string, OpenConnection[]>();
  /** By caller and by the id of the message that was sent to it. */
  readonly #pending = new Map<string, PendingMessage>();
  readonly #awaited = new AwaitedConnections();
  readonly #onChanged: (callerId: string, isConnected: boolean) => void;

  constructor({ onChanged = () => {} }: AgentConnectionsOptions = {}) {
    this.#onChanged = onChanged;
  }

  /** The callers that are connected now. */
  get connected(): Iterable<string> {
    return this.#open.keys();
  }

  attach(callerId: string, connection: OpenConnection): void {
    if (connection.signal.aborted) return;
    this.#open.set(callerId, [...(this.#open.get(callerId) ?? []), connection]);
    connection.signal.addEventListener('abort', () => this.#detach(callerId, connection), { once: true });
    this.#awaited.connected(callerId);
    this.#onChanged(callerId, true);
  }

  isConnected(callerId: string): boolean {
    return this.#open.has(callerId);
  }

  /** Resolves when a caller connects; `undefined` when it is connected now. */
  whenConnected(callerId: string): Promise<void> | undefined {
    return this.isConnected(callerId) ? undefined : this.#awaited.when(callerId);
  }

  /**
   * Sends a message to a caller, and waits for its answer to the request with this id, which is that message or an earlier one. Rejects
   * when the caller is not connected, or when the connection or the signal ends first.
   */
  ask(
    callerId: string,
    message: A2AMessage,
    { about, signal }: { readonly about: string; readonly signal: AbortSignal },
  ): Promise<ConnectionAnswer> {
    const connection = this.#open.get(callerId)?.at(-1);
    if (connection === undefined) refuse('agent_failed', {}, 'The agent is not connected.');
    const name = nameOf(callerId, about);
    return new Promise((resolve, reject) => {
      const over = () => {
        this.#pending.delete(name);
        connection.signal.removeEventListener('abort', lost);
        signal.removeEventListener('abort', ended);
      };
      const fail = (reason: unknown) => {
        over();
        reject(reason);
      };
      const lost = () => fail(new Refused(failure('agent_failed', {}, LOST)));
      const ended = () => fail(signal.reason);
      if (signal.aborted) return reject(signal.reason);
      this.#pending.set(name, {
        take: (answer) => {
          over();
          resolve(answer);
        },
      });
      connection.signal.addEventListener('abort', lost, { once: true });
      signal.addEventListener('abort', ended, { once: true });
      connection.send(message);
    });
  }

  /** Whether a request waits for this message of a caller. */
  awaits(callerId: string, message: A2AMessage): boolean {
    return this.#pendingFor(callerId, message) !== undefined;
  }

  /** Hands an answer to the request that waits for it. */
  take(callerId: string, answer: ConnectionAnswer): void {
    this.#pendingFor(callerId, answer.message)?.take(answer);
  }

  #pendingFor(callerId: string, message: A2AMessage): PendingMessage | undefined {
    const about = aboutOf(message);
    return about === undefined ? undefined : this.#pending.get(nameOf(callerId, about));
  }

  #detach(callerId: string, connection: OpenConnection): void {
    const others = (this.#open.get(callerId) ?? []).filter((other) => other !== connection);
    if (others.length > 0) this.#open.set(callerId, others);
    else if (this.#open.delete(callerId)) this.#onChanged(callerId, false);
  }
}

interface PendingMessage {
  readonly take: (answer: ConnectionAnswer) => void;
}

/** The id of this server's message that a received message answers, or asks a question about. */
function aboutOf(message: A2AMessage): string | undefined {
  if (message.message_type === 'response' || message.message_type === 'error') return message.correlation_id;
  if (message.message_type !== 'request' || message.payload.method !== QUESTION_METHOD) return undefined;
  const about = message.payload.parameters?.['request_id'];
  return typeof about === 'string' ? about : undefined;
}

function nameOf(callerId: string, messageId: string): string {
  return `${callerId}\n${messageId}`;
}

const LOST = 'The connection to the agent was lost before it had answered.';
