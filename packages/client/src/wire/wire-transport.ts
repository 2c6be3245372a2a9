import type { DragomanError } from '../dragoman-error.ts';

/** A transport to an A2E host. Each connection is a separate link. */
export interface WireTransport {
  /** Resolves when messages can be sent. When the signal aborts, a connection that opens all the same is closed. */
  open(handlers: LinkHandlers, signal?: AbortSignal): Promise<WireLink>;
}

export interface WireLink {
  /** One message, as JSON on one line without its line break. */
  send(text: string): void;
  /** After what was sent, as far as that can be waited for. */
  close(): void | Promise<void>;
}

export interface LinkHandlers {
  onMessage(text: string): void;
  /** Called once. Nothing comes after it. */
  onClosed(error: DragomanError): void;
}
