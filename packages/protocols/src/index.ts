// The common parts: strict JSON, framing, the hub (E2A), the list of dialects, and translation. The parts of
// each other protocol have their own subpath, such as `@dragoman/protocols/a2a-mailbox`.

export { canonicalJson } from './canonical-json.ts';
export { type Conversion, type ConvertOptions, convert, type Loss } from './convert.ts';
export type { DecodeOptions, Dialect, Stamp } from './dialect.ts';
export { DIALECTS, dialectNamed, dialectOf } from './dialects.ts';
export { type Difference, difference } from './difference.ts';
export {
  type A2aCall,
  type A2aOptions,
  e2aResponseToA2aStreamPayload,
  envelopeFromA2aSendMessage,
} from './e2a/adapters/a2a.ts';
export { a2aStreamPayloadFor } from './e2a/adapters/a2a-projection.ts';
export {
  type AcpCall,
  type AcpOptions,
  acpMethodOf,
  e2aResponseToAcpJsonrpcResponse,
  envelopeFromAcpJsonrpc,
  envelopeToAcpJsonrpcCall,
  mergeParamsToAcpPrompt,
} from './e2a/adapters/acp.ts';
export { acpMessagesFor } from './e2a/adapters/acp-projection.ts';
export {
  acpResultFor,
  answerFromAcpResponse,
  CHOICE,
  isConsent,
  questionBody,
  questionFromAcpRequest,
  rejectingOption,
} from './e2a/adapters/acp-question.ts';
export { projectionsFor } from './e2a/adapters/projections.ts';
export { textOfResult } from './e2a/adapters/result-text.ts';
export { respellAcp } from './e2a/adapters/spelling.ts';
export { type AgentQuestion, agentQuestionIn } from './e2a/agent-question.ts';
export { type AnswerEnd, answerEnd } from './e2a/answer-end.ts';
export { e2aDialect, isResponse } from './e2a/dialect.ts';
export {
  E2AAuth,
  type E2AEnvelope,
  E2AFileRef,
  IDENTITY_ORIGINS,
  type IdentityOrigin,
  newAuth,
  newEnvelope,
} from './e2a/envelope.ts';
export { type ErrorIn, errorIn } from './e2a/error-in.ts';
export { decodeFileRef, newFileRef, type WholeFileRef } from './e2a/file-ref.ts';
export { FrameOrder, isFailed, isKeepalive, isServerPush } from './e2a/invariants.ts';
export { type LogOptions, logLine } from './e2a/log-line.ts';
export {
  ACP_AGENT_TO_CLIENT_METHODS,
  ACP_CLIENT_TO_AGENT_METHODS,
  ACP_NOTIFICATION_NAMES,
  ACP_SESSION_UPDATE_KINDS,
  GATEWAY_METHODS,
  type MethodOwner,
  methodOwner,
} from './e2a/methods.ts';
export { needsPerson } from './e2a/needs-person.ts';
export { E2AProvenance, newProvenance, SOURCE_PROTOCOLS } from './e2a/provenance.ts';
export {
  ANSWER_ACTIONS,
  GivenAnswer,
  NewQuestion,
  QUESTION_KINDS,
  QUESTION_RESOLVED,
  Question,
  QuestionAnswer,
  type QuestionEnd,
  type QuestionForm,
  type QuestionKind,
  type QuestionOption,
  type QuestionSubject,
} from './e2a/question.ts';
export { answerFromText, answerHelp, questionText } from './e2a/question-text.ts';
export { decodeEnvelope } from './e2a/read-envelope.ts';
export {
  decodeGivenAnswer,
  decodeNewQuestion,
  questionEndBody,
  questionEndIn,
  questionIn,
} from './e2a/read-question.ts';
export { decodeResponse, isE2AResponse } from './e2a/read-response.ts';
export { FALLBACK_CONTEXT_KEY, RESERVED_METADATA_KEYS, SERVER_PUSH_KEY } from './e2a/reserved-keys.ts';
export { type E2AResponse, newResponse, RESPONSE_KINDS, RESPONSE_STATUSES, type ResponseKind } from './e2a/response.ts';
export { A2A_STREAM_BRANCHES, DELTA_KINDS, type E2AFrame, RESPONSE_BODIES } from './e2a/response-body.ts';
export { REDACTED, redacted, withoutSecrets, withoutServerSecrets } from './e2a/secrets.ts';
export { agentChunkFrom, agentResponseFrom } from './e2a/to-agent-answer.ts';
export { encodeEnvelope, encodeResponse } from './e2a/write.ts';
export type {
  Allowed,
  Change,
  Changes,
  ExplainedFrame,
  Explanation,
  Projection,
  ReceivedInput,
  WayIn,
} from './explanation.ts';
export {
  FAILURES,
  type Failure,
  type FailureCode,
  type FailureDetails,
  type FailureRow,
  type Fault,
  failure,
} from './failure.ts';
export { type LineLimits, LineSplitter } from './framing/line-splitter.ts';
export { NdjsonReader, ndjsonLine } from './framing/ndjson.ts';
export { oneLineJson } from './framing/one-line-json.ts';
export { type SseEvent, sseComment, sseEvent, sseRetry } from './framing/sse.ts';
export { type SseLimits, type SseMessage, SseParser } from './framing/sse-parser.ts';
export { InFlight } from './in-flight.ts';
export { isObject, type Json, type JsonObject, parseJson, parseJsonBytes } from './json.ts';
export { DATA_LIMITS, DEFAULT_JSON_LIMITS, type JsonLimits, LONG_TEXT } from './json-explain.ts';
export { decodeJsonRpc, JSON_RPC_CODES, type JsonRpcMessage } from './jsonrpc/message.ts';
export { nearest } from './nearest.ts';
export { accept, type Issue, type Outcome, reject } from './outcome.ts';
export { isPassingStatus } from './passing-status.ts';
export { pointerTo, segmentsOf, valueAt } from './pointer.ts';
export { retryAfterMs } from './retry-after.ts';
export { type JsonSchema, SCHEMA_BASE, type SchemaSet } from './schema.ts';
export type { Static } from './static.ts';
export { isTimestamp, parseTimestamp } from './time.ts';
export { UNSEEN_CHARACTERS } from './unseen-characters.ts';
export { issuesOf, show, type Validator } from './validation.ts';
