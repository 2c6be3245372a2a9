/** The owner of a method name: E2A uses one field for all of them (E2A §2). */
export type MethodOwner = 'none' | 'acp' | 'ext' | 'gateway' | 'agent';

/**
 * The owner of a method. `none`: a heartbeat has no method. `gateway`: an RPC of the server itself. `agent`: any other
 * name is the agent's own and is delivered to it. `initialize` is on two lists and counts as ACP's.
 */
export function methodOwner(method: string | null): MethodOwner {
  if (method === null) return 'none';
  if (method === 'ext') return 'ext';
  if (isAcpMethod(method)) return 'acp';
  return isGatewayMethod(method) ? 'gateway' : 'agent';
}

export function isAcpMethod(method: string): boolean {
  return ACP_METHODS.has(method);
}

export function isGatewayMethod(method: string): boolean {
  if (GATEWAY_NAMES.has(method)) return true;
  return GATEWAY_FAMILIES.some((family) => method.startsWith(family)) || CHANNEL_CONF.test(method);
}

/** The methods of one family: `files.` with `list` and `get` gives `files.list` and `files.get`. */
function family(prefix: string, ...names: readonly string[]): readonly string[] {
  return names.map((name) => prefix + name);
}

export const ACP_CLIENT_TO_AGENT_METHODS = [
  'initialize',
  'authenticate',
  'session/new',
  'session/load',
  'session/list',
  'session/set_mode',
  'session/set_config_option',
  'session/prompt',
  'session/set_model',
  'session/fork',
  'session/resume',
  'session/close',
  'session/delete',
  'logout',
] as const;

export const ACP_AGENT_TO_CLIENT_METHODS = [
  'session/update',
  'session/request_permission',
  'fs/read_text_file',
  'fs/write_text_file',
  'terminal/create',
  'terminal/output',
  'terminal/release',
  'terminal/wait_for_exit',
  'terminal/kill',
  'session/elicitation',
  'elicitation/create',
] as const;

export const ACP_NOTIFICATION_NAMES = [
  'session/cancel',
  'session/update',
  'session/elicitation/complete',
  'elicitation/complete',
  '$/cancel_request',
] as const;

/** Values of `session_update_kind`. `todo_update` is an addition of the E2A project, not a kind of ACP's. */
export const ACP_SESSION_UPDATE_KINDS = [
  'user_message_chunk',
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'todo_update',
  'plan',
  'available_commands_update',
  'current_mode_update',
  'config_option_update',
  'session_info_update',
  'usage_update',
  'notice',
  'compaction_update',
  'compaction_summary_chunk',
] as const;

/** The RPC names of the reference Gateway. Families it extends freely are in `GATEWAY_FAMILIES`. */
// biome-ignore format: one family a line
export const GATEWAY_METHODS: readonly string[] = [
  'initialize', 'acp.tool_response', 'ssh.relay', 'memory.compute', 'proactive.tick', 'tts.synthesize', 'channel.get',
  'browser.runtime_restart', 'hooks.list', '3rdagent.switch', '3rdagent.list',
  ...family('chat.', 'send', 'resume', 'interrupt', 'user_answer', 'swarmflow_reply'),
  ...family('history.', 'get', 'list_turns'),
  ...family('config.', 'get', 'set', 'cache_clear'),
  ...family('path.', 'get', 'set'),
  ...family('files.', 'list', 'get'),
  ...family('agent.', 'reload_config', 'prewarm.sync'),
  ...family('command.', 'btw', 'add_dir', 'chrome', 'compact', 'compact_partial', 'context', 'recap', 'diff', 'simplify', 'mcp', 'model', 'resume', 'sandbox', 'session', 'workflows', 'status', 'goal'),
  ...family('session.', 'list', 'create', 'switch', 'delete', 'rename', 'fork', 'rewind', 'rewind_and_restore', 'rewind_context', 'rewind_compact', 'restore_files'),
  ...family('team.', 'templates.list', 'bindings.list', 'binding.create', 'binding.generate', 'session.bind', 'delete', 'snapshot', 'history.get', 'members.get', 'mq.publish'),
  ...family('agents.', 'list', 'get', 'create', 'update', 'delete', 'enable', 'disable', 'tools_list'),
  ...family('skills.', 'list', 'installed', 'get', 'toggle', 'install', 'uninstall', 'import_local', 'online_search.search'),
  ...family('plugins.', 'list', 'install', 'uninstall', 'enable', 'disable', 'reload'),
  ...family('extensions.', 'list', 'import', 'delete', 'toggle'),
  ...family('harness.packages.', 'get', 'scan', 'activate', 'deactivate', 'delete', 'import', 'export'),
  ...family('schedule.', 'check_config', 'update_config', 'create', 'run', 'list', 'status', 'logs', 'cancel', 'delete'),
  ...family('issue.', 'watch_once', 'state.list', 'delete', 'matrix'),
  ...family('heartbeat.', 'get_conf', 'set_conf'),
  ...family('file.transfer.', 'start', 'chunk', 'complete'),
  ...family('file.download.', 'start', 'chunk', 'complete'),
];

export const GATEWAY_FAMILIES: readonly string[] = [
  ...family('skills.', 'marketplace.', 'skillnet.', 'clawhub.', 'teamskillshub.', 'retrieval.', 'evolution.', 'graph.'),
  ...family('permissions.', 'tools.', 'rules.', 'approval_overrides.'),
  'updater.',
];

/** Each channel has a pair of these, such as `channel.feishu.get_conf`. */
const CHANNEL_CONF = /^channel\.[a-z0-9_]{1,64}\.(?:get|set)_conf$/;

const ACP_METHODS: ReadonlySet<string> = new Set([
  ...ACP_CLIENT_TO_AGENT_METHODS,
  ...ACP_AGENT_TO_CLIENT_METHODS,
  ...ACP_NOTIFICATION_NAMES,
]);
const GATEWAY_NAMES: ReadonlySet<string> = new Set(GATEWAY_METHODS);
