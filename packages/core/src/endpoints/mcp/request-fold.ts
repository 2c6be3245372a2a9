import type { E2AEnvelope } from '@dragoman/protocols';
import { AnswerFold, type McpTargetKind } from '@dragoman/protocols/mcp';

/** The fold of the answer to a recorded request, from any protocol. */
export function foldOf(requestId: string, { agent_ref: target, session_id: sessionId }: E2AEnvelope): AnswerFold {
  return new AnswerFold({ kind: kindOf(target?.['id']), requestId, sessionId });
}

function kindOf(target: unknown): McpTargetKind {
  if (target === 'tools') return 'tool';
  return target === 'workflows' ? 'workflow' : 'agent';
}
