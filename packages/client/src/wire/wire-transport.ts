import type { DragomanError } from '../dragoman-error.ts';

/** A transport to an A2E host. Each connection is a separate link. */
export interface WireTransport {
  /** Resolves when messages can be sent. If the signal aborts, a connection that is still opened is closed. */
  open(handlers: LinkHandlers, signal?: AbortSignal): Promise<WireLink>;
}

export interface WireLink {
  /** Sends one message: JSON on one line, without a line break. */
  send(text: string): void;
  /** Closes the link after everything was sent, as far as the transport can wait for that. */
  close(): void | Promise<void>;
}

export interface LinkHandlers {
  onMessage(text: string): void;
  /** Called once, after the last message. */
  onClosed(error: DragomanError): void;
}
