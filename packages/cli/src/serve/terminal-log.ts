import type { Log, LogFields } from '@dragoman/core';
import { paint } from '../paint.ts';
import type { Terminal } from '../terminal.ts';
import { visible } from '../visible.ts';
import { LOG_LEVELS, type LogLevel } from './serve-options.ts';

export interface TerminalLogOptions {
  /** Default: info. */
  readonly level?: LogLevel;
  /** Whether requests are shown at this moment. Default: always. */
  readonly showsRequests?: (() => boolean) | undefined;
}

/** Writes the server's log as short lines for people. `--json` writes all fields. */
export function terminalLog(
  terminal: Terminal,
  { level = 'info', showsRequests = () => true }: TerminalLogOptions = {},
): Log {
  const { yellow, red, dim } = paint(terminal.colour.note);
  const write =
    (own: LogLevel, label: string) =>
    (fields: LogFields, message: string): void => {
      if (LOG_LEVELS.indexOf(own) < LOG_LEVELS.indexOf(level)) return;
      const isRequest = 'method' in fields && 'path' in fields && 'ms' in fields;
      if (isRequest && !showsRequests()) return;
      const written = fields['stderr'];
      const line =
        typeof written === 'string'
          ? `${dim(`[${writerOf(fields)}]`)} ${visible(written)}`
          : isRequest
            ? dim(visible(requestLine(fields)))
            : 'response_kind' in fields
              ? dim(visible(JSON.stringify(fields))) // E2A §12.7: one line of JSON per response
              : `${label} ${visible(`${message}${fieldsText(fields)}`)}`;
      terminal.note(`${line}\n`);
    };
  return {
    debug: write('debug', dim('debug:')),
    info: write('info', dim('info:')),
    warn: write('warn', yellow('warning:')),
    error: write('error', red('error:')),
  };
}

/** The name of the program that wrote to its stderr. */
function writerOf({ agent, mcp_server }: LogFields): string {
  return visible(String(agent ?? `mcp ${String(mcp_server)}`));
}

function requestLine({ method, path, status, ms, caller }: LogFields): string {
  const who = caller === undefined ? '' : ` ${String(caller)}`;
  return `${String(method)} ${String(path)} ${status === null ? 'broken off' : String(status)} ${String(ms)} ms${who}`;
}

/** Known fields as text. Other fields are left out, because they may contain a secret. */
function fieldsText(fields: LogFields): string {
  const parts = NAMING.flatMap((name) =>
    (fields[name] ?? undefined) === undefined ? [] : [`${name} ${String(fields[name])}`],
  );
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

const NAMING = [
  ...[
    'agent',
    'mcp_server',
    'tool',
    'plugin',
    'api',
    'credential',
    'delivery',
    'type',
    'request_id',
    'execution_id',
    'host',
  ],
  ...['reason', 'folder', 'path', 'error', 'at', 'cause', 'fix', 'instance'],
] as const;
