export {
  type Negotiation,
  negotiate,
  negotiateProtocol,
  negotiateSchemaVersion,
  PROTOCOL_VERSIONS,
  SCHEMA_VERSION,
  SCHEMA_VERSIONS,
} from '@dragoman/protocols/a2a-messages';
export type {
  A2AMessage,
  AgentAnnouncementMessage,
  AgentCard,
  AgentInfo,
  AuthenticatedMessage,
  AuthenticationTag,
  DiscoverAgentsMessage,
  ErrorMessage,
  GoodbyeMessage,
  HandshakeAckMessage,
  HandshakeMessage,
  MessageType,
  RequestMessage,
  ResponseMessage,
  StandardErrorCode,
} from './types.ts';
export { SchemaValidator, type Verdict } from './validator.ts';
