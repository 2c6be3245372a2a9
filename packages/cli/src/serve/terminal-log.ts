import type { Log, LogFields } from '@dragoman/core';
import { paint } from '../paint.ts';
import type { Terminal } from '../terminal.ts';
import { visible } from '../visible.ts';

/** The server's log for a person: what went wrong, in a line each. The whole of it is what `--json` is for. */
export function terminalLog(terminal: Terminal): Log {
  const { yellow, red } = paint(terminal.colour.note);
  const line = (label: string, fields: LogFields, message: string) =>
    terminal.note(`${label} ${visible(`${message}${told(fields)}`)}\n`);
  return {
    debug: () => {},
    info: () => {},
    warn: (fields, message) => line(yellow('warning:'), fields, message),
    error: (fields, message) => line(red('error:'), fields, message),
  };
}

/** Only what names a thing: a field nobody thought of may hold a secret. */
function told(fields: LogFields): string {
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
