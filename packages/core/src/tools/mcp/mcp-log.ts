import type { JsonObject } from '@dragoman/protocols';
import type { ToolCall } from '../tool.ts';

/** Passes a log line of an MCP server to the only call that runs there. */
export function forwardLog(call: ToolCall, { level, data }: JsonObject): void {
  // MCP, Logging: `data` is required.
  if (data === undefined) return;
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  call.log[levelOf(level)]({}, text.slice(0, LONGEST));
}

/** MCP, Logging: the levels of RFC 5424. */
function levelOf(level: unknown): 'debug' | 'info' | 'warn' | 'error' {
  if (level === 'debug' || level === 'info') return level;
  if (level === 'notice') return 'info';
  return level === 'warning' ? 'warn' : 'error';
}

const LONGEST = 10_000;
