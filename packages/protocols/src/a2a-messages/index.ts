// The exports of `@dragoman/protocols/a2a-messages`. The files of this folder import each other directly.

export {
  AgentCard,
  capabilityWarnings,
  HIGH_RISK_CAPABILITIES,
  STANDARD_CAPABILITIES,
  schemaVersionsOf,
} from './agent-card.ts';
export { isAgentId } from './agent-id.ts';
export { CHECKLIST, type ChecklistName, type ChecklistRow, checklist, MAX_MESSAGE_BYTES } from './checklist.ts';
export { a2aMessagesDialect } from './dialect.ts';
export { errorAbout } from './error-about.ts';
export {
  BACKOFF,
  BREAKER,
  ERROR_CODES,
  type ErrorRow,
  errorCodeForStatus,
  type Retry,
  retryAdvice,
  type StandardErrorCode,
} from './errors.ts';
export { AgentId, type ErrorCode, EVERYBODY, REGISTRY } from './fields.ts';
export { checkFreshness, FRESHNESS_WINDOW, type FreshnessWindow } from './freshness.ts';
export {
  type A2AMessage,
  type AgentAnnouncementMessage,
  type AuthenticatedMessage,
  AuthenticationTag,
  type BaseMessage,
  type DiscoverAgentsMessage,
  type ErrorMessage,
  type GoodbyeMessage,
  type HandshakeAckMessage,
  type HandshakeMessage,
  MESSAGE_TYPES,
  type MessageType,
  type RequestMessage,
  type ResponseMessage,
} from './message.ts';
export { derivedMessageId, isMessageId, messageIdFrom } from './message-id.ts';
export { type Negotiation, negotiate, negotiateProtocol, negotiateSchemaVersion } from './negotiation.ts';
export { parseMessage } from './parse-message.ts';
export { type AgentInfo, DISCOVERY_DEFAULTS, type ErrorPayload, type SuccessPayload } from './payloads.ts';
export {
  answerInResponse,
  answerPayload,
  QUESTION_METHOD,
  questionFromPeer,
  questionMessage,
  questionMessageId,
} from './question.ts';
export {
  type MessagesSession as Session,
  NEW_SESSION,
  receive,
  type SessionContext,
  type SessionState,
  type SessionStep,
  sayGoodbye,
  startHandshake,
} from './session.ts';
export { FINGERPRINT, isStrictBase64, type SignedContent, signedContent } from './signature.ts';
export { PROTOCOL_VERSIONS, SCHEMA_VERSION, SCHEMA_VERSIONS } from './versions.ts';
