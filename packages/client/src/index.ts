// The whole public surface, by name.

export type {
  Admin,
  AgentDefinition,
  AgentFigures,
  AgentList,
  AgentPermissions as Permissions,
  CardPreview,
  FailedLoginReport,
  Forgotten,
  HeldCards,
  Key,
  KeyPage,
  KeyRequest,
  Limits,
  ListQuery,
  NewKey,
  NewSecret,
  OutboundEntry,
  Overview,
  OverviewReading,
} from './admin.ts';
export type {
  AgentIdentity,
  AgentMessages,
  DiscoverQuery,
  FoundAgent,
  MessageOptions,
  Registered,
  RegisteredQuery,
} from './agent-messages.ts';
export type { StreamedAnswer as Answer } from './answer.ts';
export type { ApiInput, KeptApi } from './api-admin.ts';
export {
  type Callback,
  CallbackReceiver,
  type CallbackReceiverOptions,
  CallbackRefused,
} from './callback-receiver.ts';
export {
  type Client,
  type ClientOptions,
  createClient,
  type ReachableAgent,
  type ResumeOptions,
  type SendOptions,
  type ServerHealth as Health,
} from './client.ts';
export type { Credential, CredentialAdmin, CredentialDefinition, UsedCredential } from './credential-admin.ts';
export { DragomanError, type DragomanErrorParts } from './dragoman-error.ts';
export { REQUEST_PRIORITIES as PRIORITIES, type RequestPriority as Priority, type SendInput } from './envelope-of.ts';
export type { ExecutionEvent } from './execution-events.ts';
export type { Knowledge, KnowledgeAnswer, KnowledgeHit, KnowledgeQuery, SearchableBase } from './knowledge.ts';
export type { KnowledgeBaseInput, KnowledgeBaseSummary, KnowledgeDocument } from './knowledge-admin.ts';
export type {
  Mailbox,
  MailboxAbout,
  MailboxAgent,
  MailboxOptions,
  MailboxThreadList,
  MailboxThreadPage,
  ThreadListQuery,
} from './mailbox.ts';
export type { NodeReport, ServerNode } from './node-admin.ts';
export type { Delivery, DeliveryDetail, DeliveryPage, DeliveryQuery, RetriedDelivery } from './outbox-admin.ts';
export type { PastQuestion, PendingQuestion, PendingQuestions } from './pending-questions.ts';
export type { ListedState, RequestListQuery, RequestPage, RequestSummary } from './request-page.ts';
export type { Reconnect } from './resumed.ts';
export type { RetryOptions } from './retry.ts';
export type { HistoryPage, Page, Session, SessionOptions, SessionPage, Sessions, Turn } from './sessions.ts';
export type { ConnectOptions, SocketSession } from './socket-session.ts';
export type { HeldChange, McpServerState, ToolAdmin, ToolList } from './tool-admin.ts';
export type { WebSocketConstructor, WebSocketLike } from './web-socket.ts';
export type { StoredWorkflow, StoredWorkflowSummary } from './workflow-admin.ts';
export type {
  ExecutionEffect,
  ExecutionPage,
  ExecutionQuery,
  ExecutionRecord,
  RunnableWorkflow,
  WorkflowInput,
  WorkflowOptions,
  WorkflowPlan,
  Workflows,
} from './workflows.ts';
