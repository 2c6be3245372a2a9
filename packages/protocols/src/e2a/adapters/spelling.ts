import { isObject, type Json, type JsonObject } from '../../json.ts';

/** ACP and A2A write `sessionId` on the wire; E2A writes `session_id` inside (E2A §3). */
export type Spelling = 'snake_case' | 'camelCase';

/** The value with its ACP field names in the given spelling; every other key is unchanged. */
export function respellAcp(value: JsonObject, spelling: Spelling): JsonObject {
  return respell(value, spelling === 'camelCase' ? ACP_TO_CAMEL : ACP_TO_SNAKE);
}

/** The value with its Linux Foundation A2A field names in the given spelling. */
export function respellA2a(value: JsonObject, spelling: Spelling): JsonObject {
  return respell(value, spelling === 'camelCase' ? A2A_TO_CAMEL : A2A_TO_SNAKE);
}

function respell(value: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const entries = Object.entries(value).map(([key, member]): [string, Json] => {
    const name = names.get(key);
    // If both spellings are present, both are kept.
    const written = name === undefined || Object.hasOwn(value, name) ? key : name;
    return [written, OPAQUE.has(key) ? member : respellAny(member, names)];
  });
  return Object.fromEntries(entries);
}

function respellAny(value: Json, names: ReadonlyMap<string, string>): Json {
  if (Array.isArray(value)) return value.map((item) => respellAny(item, names));
  return isObject(value) ? respell(value, names) : value;
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

// biome-ignore format: a plain list
const ACP_NAMES = [
  'session_id', 'stop_reason', 'mime_type', 'tool_call_id', 'raw_input', 'raw_output', 'user_message_id', 'message_id',
  'session_update', 'protocol_version', 'client_capabilities', 'client_info', 'agent_capabilities', 'agent_info',
  'auth_methods', 'method_id', 'mcp_servers', 'mode_id', 'current_mode_id', 'available_modes', 'model_id',
  'current_model_id', 'available_models', 'config_id', 'config_options', 'available_commands', 'option_id',
  'old_text', 'new_text', 'terminal_id', 'exit_status', 'exit_code', 'output_byte_limit', 'additional_directories',
  'next_cursor', 'updated_at', 'last_modified', 'load_session', 'prompt_capabilities', 'session_capabilities',
  'mcp_capabilities', 'embedded_context', 'input_tokens', 'output_tokens', 'total_tokens', 'thought_tokens',
  'tool_call', 'requested_schema', 'elicitation_id',
];

// biome-ignore format: a plain list
const A2A_NAMES = [
  'task_id', 'context_id', 'message_id', 'reference_task_ids', 'artifact_id', 'last_chunk', 'media_type', 'mime_type',
  'status_update', 'artifact_update', 'accepted_output_modes', 'push_notification_config', 'history_length',
  'return_immediately', 'file_with_uri', 'file_with_bytes',
];

const ACP_TO_CAMEL: ReadonlyMap<string, string> = new Map(ACP_NAMES.map((name) => [name, camelCase(name)]));
const ACP_TO_SNAKE: ReadonlyMap<string, string> = new Map(ACP_NAMES.map((name) => [camelCase(name), name]));
const A2A_TO_CAMEL: ReadonlyMap<string, string> = new Map(A2A_NAMES.map((name) => [name, camelCase(name)]));
const A2A_TO_SNAKE: ReadonlyMap<string, string> = new Map(A2A_NAMES.map((name) => [camelCase(name), name]));

/** Members that belong to a tool, an extension or a user: their keys are not the protocol's. */
const OPAQUE: ReadonlySet<string> = new Set([
  'raw_input',
  'rawInput',
  'raw_output',
  'rawOutput',
  'requested_schema',
  'requestedSchema',
  '_meta',
  'metadata',
  'data',
  'env',
]);
