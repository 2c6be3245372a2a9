import { isObject, type Json, type JsonObject } from '../../json.ts';

/** A tool's delta in ACP's form. A delta has no fixed shape: the names in use are tried in turn. */
export interface AcpToolCall {
  readonly toolCallId: string;
  readonly title: string;
  readonly kind: string;
  /** `undefined` if the delta has neither a status nor a result. */
  readonly status: AcpToolStatus | undefined;
  readonly rawInput?: Json;
  readonly rawOutput?: Json;
}

export type AcpToolStatus = 'pending' | 'in_progress' | 'completed' | 'failed';

export function acpToolCallOf(delta: Json | undefined, fallbackId: string): AcpToolCall {
  const tool = isObject(delta) ? delta : { title: delta ?? '' };
  const name = firstOf(tool, 'title', 'name', 'tool_name', 'tool');
  const title = typeof name === 'string' && name !== '' ? name : 'tool';
  const output = firstOf(tool, 'raw_output', 'rawOutput', 'result', 'output');
  const input = firstOf(tool, 'raw_input', 'rawInput', 'arguments', 'input', 'args');
  const given = firstOf(tool, 'tool_call_id', 'toolCallId', 'call_id', 'id');
  const id = typeof given === 'string' || typeof given === 'number' ? String(given) : fallbackId;
  const status = firstOf(tool, 'status');
  const kind = firstOf(tool, 'kind');
  return {
    toolCallId: id === '' ? title : id,
    title,
    kind: ACP_TOOL_KINDS.find((known) => known === kind) ?? kindFromName(title),
    status: status === undefined ? (output === undefined ? undefined : 'completed') : acpToolStatus(status),
    ...(input !== undefined && { rawInput: input }),
    ...(output !== undefined && { rawOutput: output }),
  };
}

/** The state of a tool call as one of ACP's four; an unknown word means that it runs. */
export function acpToolStatus(word: Json | undefined): AcpToolStatus {
  const folded = typeof word === 'string' ? word.toLowerCase() : '';
  return STATUSES.find(([, words]) => words.includes(folded))?.[0] ?? 'in_progress';
}

function kindFromName(name: string): string {
  const folded = name.toLowerCase();
  return KIND_WORDS.find(([, words]) => words.some((word) => folded.includes(word)))?.[0] ?? 'other';
}

function firstOf(holder: JsonObject, ...names: readonly string[]): Json | undefined {
  return names.map((name) => holder[name]).find((value) => value !== undefined && value !== null);
}

export const ACP_TOOL_KINDS = [
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
] as const;

const STATUSES: readonly (readonly [AcpToolStatus, readonly string[]])[] = [
  ['pending', ['pending', 'queued', 'waiting', 'created']],
  ['completed', ['completed', 'complete', 'success', 'succeeded', 'done', 'ok', 'finished']],
  ['failed', ['failed', 'failure', 'error', 'errored', 'cancelled', 'canceled', 'rejected', 'timeout']],
];

const KIND_WORDS: readonly (readonly [string, readonly string[]])[] = [
  ['delete', ['delete', 'remove']],
  ['move', ['move', 'rename']],
  ['edit', ['edit', 'write', 'patch', 'replace']],
  ['execute', ['exec', 'run', 'shell', 'bash', 'command', 'terminal']],
  ['fetch', ['fetch', 'http', 'download', 'browse']],
  ['search', ['search', 'grep', 'find', 'glob']],
  ['read', ['read', 'list', 'get', 'view', 'cat']],
];
