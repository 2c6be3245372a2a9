/** What we need of a WebSocket: the standard's, `ws`'s and Node's all have it. */
export interface WebSocketLike {
  readonly readyState: number;
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'error', listener: (event: object) => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close', listener: (event: { readonly code: number; readonly reason: string }) => void): void;
}

/** One that can send headers: `ws`, and the global of Node 22, Bun and Deno. A browser's cannot. */
export type WebSocketConstructor = new (
  url: string,
  options: { readonly headers: Record<string, string> },
) => WebSocketLike;
