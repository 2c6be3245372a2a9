/** The error that a server answered with, or one made in place of an unusable answer (JSON-RPC 2.0 §5.1). */
export class JsonRpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** An HTTP status other than 2xx, with the beginning of the body. */
export class HttpStatusError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export class NoAnswerInTime extends Error {}

/** An answer whose shape violates MCP. */
export class MisshapenAnswer extends Error {
  /** The invalid or missing field, such as `resources.0.uri`. */
  readonly field: string;

  constructor(field: string) {
    super(`its answer violates MCP; invalid or missing: ${field}`);
    this.field = field;
  }
}

/** The server supports no revision of MCP that we support. */
export class OtherRevision extends Error {
  readonly offered: string;

  constructor(offered: string) {
    super(`its protocol version is not supported: ${offered}`);
    this.offered = offered;
  }
}

export class ConnectionClosed extends Error {
  constructor() {
    super('the connection closed');
  }
}

/** The stream ended before the answer arrived, and cannot be opened again. */
export class AnswerBrokeOff extends Error {
  constructor() {
    super('the answer broke off');
  }
}

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
