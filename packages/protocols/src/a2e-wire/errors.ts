/** The meaning of an error code, and whether a retry may succeed. */
export interface WireError {
  readonly retryable: boolean;
  readonly meaning: string;
}

/**
 * Every code of the protocol and its capabilities. The set is open: other codes are accepted.
 * Clients that retry wait 1, 2, 4 … seconds.
 */
// biome-ignore format: one row a code
export const WIRE_ERRORS = {
  // Reading a message.
  parse_error: { retryable: false, meaning: 'The line is not a JSON object.' },
  invalid_message: { retryable: false, meaning: 'Invalid message: invalid base fields, too long, or sent by the wrong side or at the wrong time.' },
  schema_violation: { retryable: false, meaning: 'The type is known, but its fields are invalid.' },
  version_mismatch: { retryable: false, meaning: 'The message has an unsupported major version.' },
  unknown_type: { retryable: false, meaning: 'Messages of this type are not supported.' },
  unauthorized: { retryable: false, meaning: 'No handshake yet, or the caller may not do this.' },
  capability_missing: { retryable: false, meaning: 'The handshake did not grant the capability this type belongs to.' },
  // Running the request.
  not_found: { retryable: false, meaning: 'The tool, skill or other resource was not found.' },
  busy: { retryable: true, meaning: 'Too many requests on this connection, too many connections, or the connection is closing.' },
  rate_limited: { retryable: true, meaning: 'Rate limit exceeded.' },
  timeout: { retryable: true, meaning: 'It did not finish in time.' },
  runtime_error: { retryable: true, meaning: 'It failed while running.' },
  internal_error: { retryable: true, meaning: 'The host failed.' },
  out_of_memory: { retryable: true, meaning: 'Memory limit exceeded.' },
  sandbox_crash: { retryable: true, meaning: 'Its runtime stopped.' },
  // tool
  unknown_tool: { retryable: false, meaning: 'Unknown tool.' },
  tool_denied: { retryable: false, meaning: 'The caller may not use this tool.' },
  tool_error: { retryable: true, meaning: 'The tool failed.' },
  // skill
  unknown_skill: { retryable: false, meaning: 'Unknown skill.' },
  skill_error: { retryable: true, meaning: 'The skill failed.' },
  // chain
  bad_entry: { retryable: false, meaning: 'entry_node names no node.' },
  chain_cycle: { retryable: false, meaning: 'The chain reached a node a second time.' },
  chain_node_error: { retryable: true, meaning: 'A node of the chain failed.' },
  chain_error: { retryable: false, meaning: 'The chain cannot be run as it is written.' },
  // env
  unknown_action: { retryable: false, meaning: 'The environment has no such action.' },
  reset_denied: { retryable: false, meaning: 'The environment may not be reset now.' },
  // proc
  unknown_proc: { retryable: false, meaning: 'No process has this id.' },
  proc_dead: { retryable: false, meaning: 'The process has ended.' },
  proc_limit: { retryable: false, meaning: 'The session has reached its limit of processes.' },
  // memory
  memory_full: { retryable: false, meaning: 'The memory is full.' },
  memory_not_found: { retryable: false, meaning: 'Memory not found.' },
  // mcp
  mcp_server_not_found: { retryable: false, meaning: 'MCP server not found.' },
  mcp_server_unavailable: { retryable: true, meaning: 'The MCP server is not responding.' },
  mcp_tool_not_found: { retryable: false, meaning: 'The MCP server has no such tool.' },
  mcp_resource_not_found: { retryable: false, meaning: 'The MCP server has no such resource.' },
  mcp_prompt_not_found: { retryable: false, meaning: 'The MCP server has no such prompt.' },
  mcp_transport_error: { retryable: true, meaning: 'The connection to the MCP server was lost.' },
  mcp_protocol_error: { retryable: false, meaning: 'The MCP server violates its protocol.' },
  mcp_sampling_refused: { retryable: false, meaning: 'The agent does not run its model for this server.' },
  mcp_capability_missing: { retryable: false, meaning: 'The MCP server cannot do this.' },
} as const satisfies Record<string, WireError>;

export type WireErrorCode = keyof typeof WIRE_ERRORS;

export function isWireErrorCode(code: string): code is WireErrorCode {
  return Object.hasOwn(WIRE_ERRORS, code);
}
