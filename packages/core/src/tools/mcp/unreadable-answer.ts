import { JsonRpcError, PARSE_ERROR } from './mcp-error.ts';

/** The error of a request whose answer cannot be read. */
export function unreadableAnswer(why = 'it is not valid JSON'): JsonRpcError {
  return new JsonRpcError(PARSE_ERROR, `its answer cannot be read: ${why}`);
}

/**
 * The id of the request that an unreadable line answers, found in the line's start and end, so that its caller need not
 * wait for the timeout. Only the id of the message itself counts, not that of a nested object.
 */
export function answeredId(start: Uint8Array, end: Uint8Array): string | number | undefined {
  const head = Buffer.from(start.subarray(0, HEAD_BYTES)).toString('latin1');
  const found = AT_START.exec(head) ?? (BEGINS_WITH_ANSWER.test(head) ? idAtEnd(end) : null);
  const id = found?.[1] ?? found?.[2];
  return id === undefined ? undefined : (JSON.parse(id) as string | number);
}

function idAtEnd(end: Uint8Array): RegExpExecArray | null {
  return AT_END.exec(Buffer.from(end.subarray(-TAIL_BYTES)).toString('latin1'));
}

/** Our ids are numbers; some servers send them back as text. */
const ID = '("[a-z0-9]{1,20}"|[0-9]{1,15})';
const VERSION = '"jsonrpc"\\s*:\\s*"2\\.0"\\s*';
const ANSWER = '"(?:result|error)"\\s*:';
// Other output may precede the message on its line.
const OPENED = '^[^{]*\\{\\s*';
const AT_START = new RegExp(`${OPENED}(?:${VERSION},\\s*)?"id"\\s*:\\s*${ID}\\s*,\\s*(?:${VERSION},\\s*)?${ANSWER}`);
/** The SDK for TypeScript writes the result first. */
const BEGINS_WITH_ANSWER = new RegExp(`${OPENED}${ANSWER}`);
const AT_END = new RegExp(`(?:${VERSION},\\s*"id"\\s*:\\s*${ID}|"id"\\s*:\\s*${ID}\\s*,\\s*${VERSION})\\s*\\}\\s*$`);
const HEAD_BYTES = 1024;
const TAIL_BYTES = 256;
