import { nearest } from '../nearest.ts';
import type { Issue } from '../outcome.ts';
import { pointerTo, valueAt } from '../pointer.ts';
import { OpaqueObject } from '../schema.ts';
import type { Static } from '../static.ts';
import { show } from '../validation.ts';
import { AgentId, SemanticVersion } from './fields.ts';

/**
 * How an agent introduces itself (HANDSHAKE, and Schema Versioning for `schema_versions`). The spec has the lengths
 * only in its Pydantic model and the shapes only in its JSON Schema; a card must satisfy both.
 */
export const AgentCard = {
  type: 'object',
  required: ['agent_id', 'name', 'version', 'description', 'capabilities', 'supported_protocols'],
  properties: {
    agent_id: AgentId,
    name: { type: 'string', minLength: 1, maxLength: 100 },
    version: { ...SemanticVersion, description: "The agent's own version, such as 1.0.0." },
    description: { type: 'string', maxLength: 500 },
    capabilities: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 50 },
    supported_protocols: {
      type: 'array',
      items: { type: 'string' },
      minItems: 1,
      description: 'Protocol versions it speaks, such as A2A/1.0.',
    },
    schema_versions: {
      type: 'array',
      items: SemanticVersion,
      description: 'Versions of these schemas it speaks. Without it: 1.0.0.',
    },
    metadata: { ...OpaqueObject, description: 'Additional information from the agent.' },
  },
  additionalProperties: false,
} as const;
export type AgentCard = Static<typeof AgentCard>;

/**
 * The schema versions a card names. The separate field takes precedence; peers that follow the closed card of the spec
 * put it under `metadata`.
 */
export function schemaVersionsOf(card: AgentCard): readonly string[] {
  if (card.schema_versions !== undefined) return card.schema_versions;
  const described = valueAt(card.metadata, '/schema_versions');
  if (!Array.isArray(described)) return DEFAULT_SCHEMA_VERSIONS;
  return described.filter((version) => typeof version === 'string');
}

/** Warnings about capability names that other agents will not find: the vocabulary is in snake_case. */
export function capabilityWarnings(names: readonly string[], pointer: string): Issue[] {
  const warnings: Issue[] = [];
  for (const [index, name] of names.entries()) {
    if (SNAKE_CASE.test(name)) continue;
    const close = nearest(name, STANDARD_CAPABILITIES);
    const at = pointerTo(pointer, index);
    warnings.push({
      pointer: at,
      code: 'capability_name',
      message: `capabilities[${index}] should be snake_case, such as data_query; got ${show(name)}`,
      ...(close !== undefined && { suggestion: `did you mean ${show(close)}?` }),
    });
  }
  return warnings;
}

/** The common vocabulary. Other names are free, preferably with a domain prefix. */
// biome-ignore format: one line a family
export const STANDARD_CAPABILITIES = [
  'data_read', 'data_query', 'data_list', 'data_summary', 'data_export', 'data_create', 'data_update', 'data_delete', 'data_import', 'data_sync', 'data_write', 'data_stream',
  'request_response', 'async_response', 'streaming', 'no_streaming', 'batch_processing', 'event_subscription',
  'file_upload', 'file_download', 'file_process', 'format_json', 'format_csv', 'format_pdf',
  'compute_aggregate', 'compute_transform', 'ai_completion', 'ai_classification', 'ai_extraction', 'validation',
  'auth_signature', 'auth_token', 'auth_certificate', 'encryption_tls', 'encryption_e2e', 'rate_limit',
  'health_check', 'metrics_export', 'config_update', 'admin_control', 'audit_log',
] as const;

/** Capabilities an operator should think about before granting. */
export const HIGH_RISK_CAPABILITIES = ['admin_control', 'data_delete', 'config_update', 'user_impersonate'] as const;

/** The schema version of a card that names none: that of the spec. */
const DEFAULT_SCHEMA_VERSIONS: readonly string[] = ['1.0.0'];

// A single word such as `streaming` or `validation` is in the vocabulary too.
const SNAKE_CASE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;
