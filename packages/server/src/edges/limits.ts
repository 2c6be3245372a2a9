/** The limits of one HTTP peer, in milliseconds and bytes. */
export interface HttpLimits {
  /** Requests and WebSockets that one caller may have open at the same time. */
  readonly maxPerCaller: number;
  readonly maxHeaderBytes: number;
  readonly maxHeaderFields: number;
  /** From the first byte, or from the connection if no byte arrives, to the end of the headers. */
  readonly headersMs: number;
  /** From the same moment to the end of the body. */
  readonly requestMs: number;
  readonly keepAliveMs: number;
  /** How often the limits above are looked at. */
  readonly checkMs: number;
  /** Requests sent ahead on one connection while an earlier one is being answered. */
  readonly maxPipelined: number;
  /** How long a peer may leave an answer unread before the connection is given up. */
  readonly stallMs: number;
  /** How much and for how long a body is read after its answer. Closing at once could lose the answer. */
  readonly lingerBytes: number;
  readonly lingerMs: number;
  /** How often to check whether a peer that has closed its sending side still listens. */
  readonly probeMs: number;
  /** How long handlers have after their signal when the server stops. */
  readonly abortMs: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  maxPerCaller: 1_000,
  maxHeaderBytes: 16 * 1024,
  maxHeaderFields: 64,
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 5_000,
  checkMs: 1_000,
  maxPipelined: 16,
  stallMs: 60_000,
  lingerBytes: 256 * 1024,
  lingerMs: 1_000,
  probeMs: 1_000,
  abortMs: 1_000,
};

/** The limits of one WebSocket peer, in milliseconds and bytes. */
export interface SocketLimits {
  readonly maxMessageBytes: number;
  readonly maxFragments: number;
  /** From the first byte of a message to its last. */
  readonly messageMs: number;
  /** Interval of pings. A peer that has not answered a ping when the next one is due counts as gone. */
  readonly pingMs: number;
  /** Pings and pongs a peer may send within `pingWindowMs`. */
  readonly maxPings: number;
  readonly pingWindowMs: number;
  /** Bytes passed to the socket that the operating system has not taken; further sends wait. */
  readonly maxBufferedBytes: number;
  /** Maximum number of waiting sends; one more closes the connection. */
  readonly maxWaitingSends: number;
  /** Received messages that the route has not read; at this number, reading from the socket pauses. */
  readonly maxUnreadMessages: number;
  /** How long a peer may leave sent bytes unread. */
  readonly stallMs: number;
  /** How long to wait for the peer's close frame. */
  readonly closeMs: number;
  /** How often the limits above are looked at. */
  readonly checkMs: number;
}

export const DEFAULT_SOCKET_LIMITS: SocketLimits = {
  maxMessageBytes: 8 * 1024 * 1024,
  maxFragments: 64,
  messageMs: 10_000,
  pingMs: 30_000,
  maxPings: 20,
  pingWindowMs: 10_000,
  maxBufferedBytes: 1024 * 1024,
  maxWaitingSends: 1_024,
  maxUnreadMessages: 16,
  stallMs: 60_000,
  closeMs: 2_000,
  checkMs: 1_000,
};
