import { type E2AResponse, encodeResponse, type Json, LONG_TEXT } from '@dragoman/protocols';
import { hasNoMembers } from '../json/is-empty.ts';

/** A frame as the JSON text that is journaled and sent: the same bytes for every reader. */
export function frameText(frame: E2AResponse): string {
  return texts.get(frame) ?? JSON.stringify(encodeResponse(frame));
}

/** Reads the text of a frame in the journal. This server wrote it, so it is not checked again. */
export function frameFrom(text: string): E2AResponse {
  return framed({ extras: {}, ...(JSON.parse(text) as Omit<E2AResponse, 'extras'>) }, text);
}

/** Remembers the text of a frame, so that `frameText` need not write it again. */
export function framed(frame: E2AResponse, text: string): E2AResponse {
  texts.set(frame, text);
  return frame;
}

const texts = new WeakMap<E2AResponse, string>();

/**
 * Writes the frames of one answer, byte for byte as `frameText` does. The echoes of the request are the same in all
 * frames, so their text is made only once.
 */
export class FrameWriter {
  #echoed: E2AResponse | undefined;
  #echo = '';

  write(frame: E2AResponse): string {
    if (!echoesOnly(frame)) return frameText(frame);
    if (this.#echoed === undefined || !echoSame(this.#echoed, frame)) {
      this.#echoed = frame;
      this.#echo = echoOf(frame);
    }
    return inOnePiece(
      `{"protocol_version":${json(frame.protocol_version)},"response_id":${json(frame.response_id)}` +
        `,"request_id":${json(frame.request_id)},"sequence":${frame.sequence},"is_final":${frame.is_final}` +
        `,"status":"${frame.status}","response_kind":${json(frame.response_kind)},"timestamp":${json(frame.timestamp)}` +
        `,"provenance":${JSON.stringify(frame.provenance)},"body":${JSON.stringify(frame.body)}${this.#echo}`,
    );
  }
}

/**
 * Makes a concatenated short text one string: V8 keeps its pieces, which burden the garbage collector until the frame
 * is durable. A long text is nearly all one piece already.
 */
function inOnePiece(text: string): string {
  // Searching joins the pieces. The result is used so that the compiler keeps the search; JSON text has no line break.
  if (text.length <= LONG_TEXT && text.includes('\n')) throw new Error('the text of a frame has more than one line');
  return text;
}

/** Whether only echoes of the request follow the body: the agent has set no member after it. */
function echoesOnly(frame: E2AResponse): boolean {
  return (
    hasNoMembers(frame.projections) &&
    hasNoMembers(frame.channel_context) &&
    hasNoMembers(frame.metadata) &&
    hasNoMembers(frame.a2a_metadata) &&
    hasNoMembers(frame.acp_meta) &&
    hasNoMembers(frame.extras)
  );
}

function echoSame(one: E2AResponse, other: E2AResponse): boolean {
  return (
    one.jsonrpc_id === other.jsonrpc_id &&
    one.correlation_id === other.correlation_id &&
    one.task_id === other.task_id &&
    one.context_id === other.context_id &&
    one.session_id === other.session_id &&
    one.message_id === other.message_id &&
    one.is_stream === other.is_stream &&
    one.identity_origin === other.identity_origin &&
    one.channel === other.channel &&
    one.user_id === other.user_id &&
    one.agent_ref === other.agent_ref &&
    one.source_agent_id === other.source_agent_id &&
    one.method === other.method
  );
}

function echoOf(frame: E2AResponse): string {
  return (
    `,"jsonrpc_id":${json(frame.jsonrpc_id)},"correlation_id":${json(frame.correlation_id)}` +
    `,"task_id":${json(frame.task_id)},"context_id":${json(frame.context_id)}` +
    `,"session_id":${json(frame.session_id)},"message_id":${json(frame.message_id)}` +
    `,"is_stream":${frame.is_stream},"identity_origin":"${frame.identity_origin}","channel":${json(frame.channel)}` +
    `,"user_id":${json(frame.user_id)},"agent_ref":${json(frame.agent_ref)}` +
    `,"source_agent_id":${json(frame.source_agent_id)},"method":${json(frame.method)}` +
    ',"projections":{},"channel_context":{},"metadata":{},"a2a_metadata":{},"acp_meta":{}}'
  );
}

function json(value: Json): string {
  return value === null ? 'null' : JSON.stringify(value);
}
