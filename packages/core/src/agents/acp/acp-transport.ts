import type { Json, JsonObject, Outcome } from '@dragoman/protocols';

/** How messages reach an ACP agent and come back, in order. */
export interface AcpTransport {
  /** Messages of the agent, for one reader; ends when no more can come. The next one is read when it is asked for. */
  readonly messages: AsyncIterable<Outcome<Json>>;
  /** Sends a message. Throws `AcpLineLost` when the agent does not read. */
  send(message: JsonObject): void;
  /** Resolves with the reason, as a sentence, when the agent is gone. */
  readonly lost: Promise<string>;
  /** A session will not be used again. */
  forget?(sessionId: string): void;
  /** Ends it. A program that does not go by itself has so long, then it is killed. */
  end(options?: { readonly patienceMs?: number }): Promise<void>;
}

/** The agent is gone, or can answer nothing more. */
export class AcpLineLost extends Error {
  override readonly name = 'AcpLineLost';
}

/** Opens the way to an agent. Throws `AcpLineLost` where there is none. */
export type OpenAcpTransport = () => Promise<AcpTransport>;
