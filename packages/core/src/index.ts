// The whole public surface, by name.

export { AgentConnections } from './a2a-messages/agent-connections.ts';
export { MessageSigner } from './a2a-messages/message-signer.ts';
export { type Conversation, type MessageAnswer, Messages, NO_PLACE } from './a2a-messages/messages.ts';
export { connectionReach, httpReach } from './a2a-messages/reach.ts';
export { relayAgent } from './a2a-messages/relay-agent.ts';
export { SenderProof } from './a2a-messages/sender-proof.ts';
export {
  AgentRegistry,
  type HostedAgent,
  lastHeartbeatOf,
  type RegisteredAgent,
} from './agent-registry/agent-registry.ts';
export { decodeRegistration } from './agent-registry/decode-registration.ts';
export { OVER_CONNECTION } from './agent-registry/endpoint.ts';
export { Registration } from './agent-registry/registration.ts';
export { readPeerCard } from './agents/a2a/open-a2a-agent.ts';
export type { PeerCard, PeerInterface, PeerScheme, PeerSkill } from './agents/a2a/peer-card.ts';
export { agentOfPin } from './agents/a2a/peer-card-source.ts';
export type { Agent, AgentPart } from './agents/agent.ts';
export { type AgentConnection, AgentSocketHub } from './agents/agent-socket-hub.ts';
export { loadModuleAgent, type ModuleAgentFunction, moduleAgent } from './agents/module-agent.ts';
export { type Driver, type DriverContext, openAgent, peerPlace } from './agents/open-agent.ts';
export { childrenFolder } from './agents/stdio-agent.ts';
export { type TemporaryFolder, temporaryFolder } from './agents/temporary-folder.ts';
export { unopenedAgent } from './agents/unopened-agent.ts';
export type { Api, ApiCatalogue, ApiEndpoint } from './apis/api.ts';
export { Apis, type ApisOptions, configuredApis, decodeApi } from './apis/apis.ts';
export { ApiDefinition, ApiShape } from './apis/definition.ts';
export { apiFromOpenApi } from './apis/openapi.ts';
export type { Ask, AskingOptions } from './call/ask.ts';
export type { Beside, Call, EarlierTurn, Received } from './call/call.ts';
export type { CallerTools, ToolEvent } from './call/caller-tools.ts';
export { type Check, type Handler, type Layer, layered } from './call/handler.ts';
export {
  ALL_PERMISSIONS,
  allows,
  NO_PERMISSIONS,
  type Permissions,
  type Principal,
  type RateLimits,
} from './call/principal.ts';
export { BUILT_IN_TARGETS, isBuiltIn } from './call/target.ts';
export { checkAdminKey, FROM_ENVIRONMENT, provideAdminKey } from './callers/admin-key.ts';
export { Callers, decodeAgentDefinition, RESERVED_AGENT_IDS } from './callers/callers.ts';
export { decodeNewKeyRequest } from './callers/decode-new-key.ts';
export {
  AgentBody,
  DRIVERS,
  type DriverDefinition,
  DriverShape,
  LimitsShape,
  NewKeyRequest,
} from './callers/definition.ts';
export type { IssuedKey } from './callers/keys.ts';
export { AgentLines, type AgentLinesOptions } from './cluster/agent-lines.ts';
export { Cluster, type ClusterListener, type ClusterOptions } from './cluster/cluster.ts';
export { FamilyChanges, type ReloadFamily } from './cluster/family-changes.ts';
export { RemoteExecutions, type RemoteExecutionsOptions } from './cluster/remote-executions.ts';
export { RemotePushes, type RemotePushesOptions } from './cluster/remote-pushes.ts';
export { RemoteQuestions, type RemoteQuestionsOptions } from './cluster/remote-questions.ts';
export { RemoteRuns, type RemoteRunsOptions } from './cluster/remote-runs.ts';
export { ClusterShape } from './cluster/settings.ts';
export { StoreClock } from './cluster/store-clock.ts';
export { AcpConnection, type AcpConnectionOptions } from './endpoints/acp/acp-connection.ts';
export type { AcpHub } from './endpoints/acp/acp-hub.ts';
export { engineHub } from './endpoints/acp/engine-hub.ts';
export { PushNotifications, type PushNotificationsOptions } from './endpoints/lf-a2a/push-notifications.ts';
export {
  type EventId,
  eventIdIn,
  LfA2aTasks,
  type NumberedEvent,
  type OpenTask,
  type SendContext,
} from './endpoints/lf-a2a/tasks.ts';
export type { McpContext, McpReply } from './endpoints/mcp/mcp-call.ts';
export { McpEndpoint } from './endpoints/mcp/mcp-endpoint.ts';
export type { McpNodes } from './endpoints/mcp/mcp-nodes.ts';
export {
  type AnswerFacts,
  type OpenAiContext,
  OpenAiEndpoint,
  type OpenedAnswer,
} from './endpoints/openai/openai-endpoint.ts';
export { Engine, type EngineOptions } from './engine/engine.ts';
export type { Executions, RecordedExecution } from './executions/executions.ts';
export { FileStorage } from './executions/file-storage.ts';
export {
  DEFAULT_WORKFLOW_LIMITS,
  type WorkflowLimits,
  type WorkflowsConfig,
  WorkflowsShape,
} from './executions/limits.ts';
export type { ExecutionEventRecord } from './executions/live-execution.ts';
export { type Planner, refusalOf } from './executions/planner.ts';
export { replayedResult } from './executions/replayed-result.ts';
export type { StartedExecution } from './executions/started-execution.ts';
export {
  type ParsedRequest,
  type ParseOutcome,
  unreadableLines,
  WorkflowRequestReader,
} from './executions/workflow-request.ts';
export { openWorkflows, type WorkflowService, type WorkflowsOptions } from './executions/workflows.ts';
export { explain } from './explain/explain.ts';
export type { ExplainContext } from './explain/explain-context.ts';
export { explainWire } from './explain/explain-wire.ts';
export { type EgressEntry, EgressLog } from './gate/egress-log.ts';
export type { Gate, InboundAnswer, OutboundRequest } from './gate/gate.ts';
export { decodeHostPort, type HostPort } from './gate/host-port.ts';
export { GATE_LIMITS, type GateLimits } from './gate/limits.ts';
export { type AllowedLists, type GateOptions, NetworkGate, openGate } from './gate/network-gate.ts';
export { decodeKnowledgeBase, type KnowledgeBase, KnowledgeBases } from './knowledge/bases.ts';
export {
  type CapabilitiesOptions,
  type CredentialCatalogue,
  type CredentialInfo,
  capabilitiesOf,
} from './knowledge/capabilities.ts';
export { decodeSearchRequest } from './knowledge/decode-search.ts';
export { KnowledgeBaseDefinition, SearchRequest } from './knowledge/definition.ts';
export type { Embedder } from './knowledge/embedder.ts';
export { EndpointEmbedder, type EndpointEmbedderOptions } from './knowledge/endpoint-embedder.ts';
export { type Found, type KnowledgeOptions, KnowledgeSearch } from './knowledge/knowledge.ts';
export { KnowledgeTool } from './knowledge/knowledge-tool.ts';
export { apiSource } from './knowledge/sources/apis.ts';
export { documentSource } from './knowledge/sources/documents.ts';
export { endpointSource } from './knowledge/sources/endpoints.ts';
export { operationSource } from './knowledge/sources/operations.ts';
export { toolSource, workflowSource } from './knowledge/sources/tools.ts';
export type { Source, Thing, ThingType } from './knowledge/thing.ts';
export { ThreadEmbedder, type ThreadEmbedderOptions } from './knowledge/thread-embedder.ts';
export { type ConnectionPlace, ConnectionPlaces } from './limits/connection-places.ts';
export { Limiter } from './limits/limiter.ts';
export { ProofFailures } from './limits/proof-failures.ts';
export { DEFAULT_RATE_LIMITS } from './limits/rate-limits.ts';
export { SlidingWindows, type Taken, type Window, type WindowState } from './limits/sliding-window.ts';
export { type UnreadAccount, UnreadBudget } from './limits/unread-budget.ts';
export { anonymousOwner, anonymousPrincipal } from './mailbox/anonymous.ts';
export { AnonymousQuota, type AnonymousQuotaSettings } from './mailbox/anonymous-quota.ts';
export { CallbackLimits } from './mailbox/callback-limits.ts';
export { type Addressee, Directory } from './mailbox/directory.ts';
export { MailboxService, type MailboxSettings, type Sender, UNLISTED } from './mailbox/mailbox.ts';
export { modifiedAt } from './modules/load-module.ts';
export { jsonWebSignature } from './outbox/json-web-signature.ts';
export { Outbox, type OutboxSettings } from './outbox/outbox.ts';
export { OutboxOperator } from './outbox/outbox-operator.ts';
export { type PublicJwk, SigningKeys } from './outbox/signing-keys.ts';
export { type PinChange, Pins } from './pins/pins.ts';
export type { Cancel, Clock, Ids, Log, LogFields } from './ports/ports.ts';
export type { LogLine } from './ports/recent-lines.ts';
export { endOrphans } from './processes/orphans.ts';
export type { AgentPush } from './pushes/pushes.ts';
export {
  ANSWER_OPERATION,
  type Answerer,
  type OpenQuestion,
  OpenQuestions,
  type QuestionListener,
} from './questions/open-questions.ts';
export { idFault } from './refusals/id-fault.ts';
export { failureOf, Refused, refuse } from './refusals/refused.ts';
export { unreadable } from './refusals/unreadable.ts';
export { RUN_KINDS, type RunKind } from './runs/active-run.ts';
export { frameFrom, frameText } from './runs/frame-text.ts';
export type { KnownRequest } from './runs/known-request.ts';
export type { Reading } from './runs/reading.ts';
export { RunTable } from './runs/run-table.ts';
export { type Filled, withDefaults } from './schema/with-defaults.ts';
export { CredentialUse } from './secrets/credential-use.ts';
export { keyIn, newKey, pemOf, signingKeyIn } from './signing/key-file.ts';
export { privateKeyIn, signedBy } from './signing/private-key.ts';
export { Signatures } from './signing/signatures.ts';
export { isAnonymousOwner } from './store/anonymous.ts';
export { refuseMissing } from './store/commit-marker.ts';
export type { Damage } from './store/damage.ts';
export type * from './store/memories.ts';
export { openMemoryStore } from './store/memory-store.ts';
export { openPostgresStore, postgresVersion } from './store/open-postgres-store.ts';
export type * from './store/pins.ts';
export { isPostgresUrl, shownPostgresUrl } from './store/postgres/postgres-url.ts';
export type * from './store/request-list.ts';
export { openSqliteStore } from './store/sqlite-store.ts';
export type * from './store/store.ts';
export type { CopiedFamily, CopyProgress } from './store-copy/copy-rows.ts';
export { copyStore } from './store-copy/copy-store.ts';
export { AgentTools } from './targets/agent-tools.ts';
export { agentsTarget } from './targets/agents-target.ts';
export { askTarget } from './targets/ask-target.ts';
export { decodeStoredWorkflow } from './targets/decode-stored-workflow.ts';
export { durableCalls } from './targets/durable-calls.ts';
export { executionRequests } from './targets/execution-requests.ts';
export { HubSubagents } from './targets/hub-subagents.ts';
export { StoredWorkflowDefinition } from './targets/stored-workflow-definition.ts';
export {
  isWorkflowName,
  type StoredDefinition,
  type StoredWorkflowEntry,
  StoredWorkflows,
} from './targets/stored-workflows.ts';
export { toolsTarget } from './targets/tools-target.ts';
export { WorkflowTools } from './targets/workflow-tools.ts';
export { workflowsTarget } from './targets/workflows-target.ts';
export { type LongText, lengthOf, slicesOf, stringOf } from './text/long-text.ts';
export type { ToolBackends } from './tools/configured-tool.ts';
export { defineTool, type ToolArguments, type ToolSpec } from './tools/define-tool.ts';
export {
  type Environment,
  type Episode,
  type EpisodeStart,
  type EpisodeStep,
  loadEnvironments,
} from './tools/environment.ts';
export { FixedTools } from './tools/fixed-tools.ts';
export { McpServers } from './tools/mcp/mcp-servers.ts';
export { lexicalSearch } from './tools/memory/lexical-search.ts';
export { Memories } from './tools/memory/memories.ts';
export type { Ranked, Search, Searchable } from './tools/memory/search.ts';
export { openTools } from './tools/open-tools.ts';
export { chainsPlugin } from './tools/plugins/chains.ts';
export { envPlugin } from './tools/plugins/env.ts';
export { Learning, learnPlugin } from './tools/plugins/learn.ts';
export { mcpPlugin } from './tools/plugins/mcp.ts';
export { memoryPlugin } from './tools/plugins/memory.ts';
export { multiAgentPlugin } from './tools/plugins/multi-agent.ts';
export { planningPlugin } from './tools/plugins/planning.ts';
export { procPlugin } from './tools/plugins/proc.ts';
export { skillsPlugin } from './tools/plugins/skills.ts';
export { toolkitsPlugin } from './tools/plugins/toolkits.ts';
export { toolsPlugin } from './tools/plugins/tools.ts';
export { SessionToolkits } from './tools/session-toolkits.ts';
export { type SkilledAgent, Skills } from './tools/skills.ts';
export type { Tool, ToolCall, ToolOutcome, ToolSource } from './tools/tool.ts';
export { type ApprovalRule, ToolApprovals } from './tools/tool-approvals.ts';
export { ToolRegistry } from './tools/tool-registry.ts';
export { ToolWorkflow, type WorkflowRules } from './tools/tool-workflow.ts';
export { McpServerShape, ToolApprovalsShape, ToolEntryShape, WireShape } from './tools/tools-config.ts';
export type { Audit, AuditEntry } from './tools/wire/audit.ts';
export type { WireSink } from './tools/wire/connection-parts.ts';
export { loadPlugins } from './tools/wire/load-plugins.ts';
export type { WireCall, WirePlugin, WireSession } from './tools/wire/plugin.ts';
export type { HostedType } from './tools/wire/plugin-table.ts';
export type { WireConnection } from './tools/wire/wire-connection.ts';
export { type Entrance, type PluginStates, WireHost } from './tools/wire/wire-host.ts';
export type { WireLimits } from './tools/wire/wire-limits.ts';
export { WireRefused } from './tools/wire/wire-refused.ts';
export { credentialRefused } from './vault/credential-refused.ts';
export { decodeCredential } from './vault/decode-credential.ts';
export { CredentialBody } from './vault/definition.ts';
export { environmentKey, fileKey, type KeySource, passingKey } from './vault/key-source.ts';
export { References, referencedFiles, withReferencedFiles } from './vault/references.ts';
export { openVault, type Vault, type VaultCredential } from './vault/vault.ts';
export { JsonReader } from './worker-threads/json-reader.ts';
export { BUILT_IN } from './workflow/catalog.ts';
export { explainPlan } from './workflow/explain.ts';
export { type LoadedOperations, loadOperations } from './workflow/load-operations.ts';
