// The exports of `@dragoman/protocols/a2e-wire`. The files of this folder import each other directly.

export { ChainNode } from './capabilities/chain.ts';
export { EnvObservation } from './capabilities/env.ts';
export { Experience, Feedback, PerformanceRecord } from './capabilities/learn.ts';
export { McpServerConfig, McpServerInfo } from './capabilities/mcp.ts';
export { MEMORY_TIERS, MemoryEntry } from './capabilities/memory.ts';
export { SUBAGENT_STATUSES } from './capabilities/multi-agent.ts';
export { DEFAULT_COLUMNS } from './capabilities/planning.ts';
export { PROC_STATES, ProcStatus } from './capabilities/proc.ts';
export { SkillDefinition, SkillResult } from './capabilities/skill.ts';
export { ToolDefinition, ToolParameter, ToolResult } from './capabilities/tool.ts';
export { ToolkitDefinition } from './capabilities/toolkit.ts';
export { decodeWire, idOf, type Slip, slipsIn } from './decode.ts';
export { a2eWireDialect } from './dialect.ts';
export { isWireErrorCode, WIRE_ERRORS, type WireError, type WireErrorCode } from './errors.ts';
export { EventSequence } from './event-sequence.ts';
export { failureMessage } from './failure-message.ts';
export { type Acceptance, grant, type HostPolicy } from './host-policy.ts';
export {
  type AcceptedCapability,
  CAPABILITIES,
  EVENT_KINDS,
  type EventKind,
  REJECTION_REASONS,
  type RejectionReason,
  TYPE_PATTERN,
  WIRE_VERSION,
} from './message.ts';
export { messageText, type TextGiven } from './message-text.ts';
export { nearestType } from './nearest-type.ts';
export { capabilityOf, type ErrorGiven, newError, newMessage, withFields } from './new-message.ts';
export { type MessageRoute as Route, PendingCalls } from './pending.ts';
export { type EventGiven, HostSession, type Reaction, type SessionGiven } from './session.ts';
export { stableId } from './stable-id.ts';
export {
  aliasOf,
  type FieldsOf,
  isMessage,
  KNOWN_TYPES,
  type KnownType,
  lookup,
  type MessageOf,
  maySend,
  type WireMessage,
  type WireType,
} from './type-map.ts';
