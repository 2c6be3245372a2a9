import type { Json, JsonObject, Outcome } from '@dragoman/protocols';

/** Sends messages to an ACP agent and receives its messages, in order. */
export interface AcpTransport {
  /** Messages of the agent, for one reader; ends with the connection. The next message is read on demand. */
  readonly messages: AsyncIterable<Outcome<Json>>;
  /** Sends a message. Throws `AcpLineLost` when the agent does not read. */
  send(message: JsonObject): void;
  /** Resolves with the reason, as a sentence, when the agent is gone. */
  readonly lost: Promise<string>;
  /** A session will not be used again. */
  forget?(sessionId: string): void;
  /** Ends the agent. A program that has not ended after `patienceMs` is killed. */
  end(options?: { readonly patienceMs?: number }): Promise<void>;
}

/** The agent is gone, or can answer nothing more. */
export class AcpLineLost extends Error {
  override readonly name = 'AcpLineLost';
}

/** Connects to an agent. Throws `AcpLineLost` if that fails. */
export type OpenAcpTransport = () => Promise<AcpTransport>;
