// The exports of `@dragoman/protocols/a2a-mailbox`. The files of this folder import each other directly.

export {
  AGENT_ID_PATTERN,
  formatAgentId,
  isMailboxAgentId as isAgentId,
  type MailboxAgentId as AgentId,
  parseAgentId,
  sameAgentId,
} from './agent-id.ts';
export { AgentRegistration, agentCard, agentRegistration, type CardSource, MailboxCard as AgentCard } from './card.ts';
export type { ContentLimits } from './content-size.ts';
export {
  isMailboxError,
  isMailboxMessage,
  isMailboxResponse,
  type MailboxWire,
  mailboxDialect,
  mailboxDialectWith,
} from './dialect.ts';
export { errorBody } from './error-body.ts';
export { isExpired } from './expiry.ts';
export {
  CONTENT_TYPES,
  type ContentType,
  MAILBOX_LIMITS,
  MAILBOX_VERSION,
  MailboxError,
  MailboxInput,
  MailboxMessage,
  type MailboxMetadata,
  type MailboxParty,
  MailboxResponse,
  type MailboxSender,
  PRIORITIES,
  type Priority,
} from './message.ts';
export { completed, mailboxMessageId } from './message-id.ts';
export { answerParams, messageOfResponse, repliedQuestion } from './question.ts';
export { type Answering, acknowledgement, answerMessage as answer, errorAnswer } from './response.ts';
export { withRecipient } from './shorthand.ts';
export { errorTexts } from './validate.ts';
