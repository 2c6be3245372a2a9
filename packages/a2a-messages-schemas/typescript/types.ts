// The types of the messages, which are inferred from the schemas.

export type {
  A2AMessage,
  AgentAnnouncementMessage,
  AgentCard,
  AgentInfo,
  AuthenticatedMessage,
  AuthenticationTag,
  BaseMessage,
  DiscoverAgentsMessage,
  ErrorCode,
  ErrorMessage,
  ErrorPayload,
  GoodbyeMessage,
  HandshakeAckMessage,
  HandshakeMessage,
  MessageType,
  RequestMessage,
  ResponseMessage,
  StandardErrorCode,
  SuccessPayload,
} from '@dragoman/protocols/a2a-messages';
