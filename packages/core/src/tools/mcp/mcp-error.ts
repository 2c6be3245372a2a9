/** The error that a server answered with, or that stands for an answer that cannot come (JSON-RPC 2.0 §5.1). */
export class JsonRpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** A status of HTTP from 300 up, with the beginning of its body. */
export class HttpStatusError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** No answer arrived in time. */
export class NoAnswerInTime extends Error {}

/** An answer that is not as MCP has it. */
export class MisshapenAnswer extends Error {
  /** Where, such as `resources.0.uri`. */
  readonly field: string;

  constructor(field: string) {
    super(`its answer violates MCP; invalid or missing: ${field}`);
    this.field = field;
  }
}

/** The server speaks no revision of MCP that we do. */
export class OtherRevision extends Error {
  readonly offered: string;

  constructor(offered: string) {
    super(`its protocol version is not supported: ${offered}`);
    this.offered = offered;
  }
}

/** The connection ended before the answer arrived. */
export class ConnectionClosed extends Error {
  constructor() {
    super('the connection closed');
  }
}

/** The stream of an answer ended before the answer, and cannot be had again. */
export class AnswerBrokeOff extends Error {
  constructor() {
    super('the answer broke off');
  }
}

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
