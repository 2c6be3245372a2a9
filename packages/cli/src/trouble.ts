import type { Issue } from '@dragoman/protocols';
import { paint } from './paint.ts';
import type { Terminal } from './terminal.ts';
import { visible } from './visible.ts';

/** Why a command failed, and the fix. */
export interface Trouble {
  readonly code: string;
  readonly message: string;
  /** Fixes, most likely first; commands if possible. */
  readonly fixes?: readonly string[];
  readonly issues?: readonly TroubleIssue[];
  /** 2 when the command itself was not understood. */
  readonly exitCode?: 1 | 2;
}

/** An issue of a workflow, with the operation that has it. */
export interface TroubleIssue extends Issue {
  readonly operationId?: string;
}

/** Ends the command with this error. */
export function fail(trouble: Trouble): never {
  throw troubled(trouble);
}

/** The error to be passed on instead of thrown. */
export function troubled(trouble: Trouble): Error {
  return Object.assign(new Error(trouble.message), { trouble });
}

export function troubleOf(error: unknown): Trouble | undefined {
  if (typeof error !== 'object' || error === null || !('trouble' in error)) return undefined;
  return error.trouble as Trouble;
}

export function unforeseen(error: unknown): Trouble {
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'internal', message: `internal error: ${message}` };
}

export function printTrouble(
  { code, message, fixes = [], issues = [] }: Trouble,
  terminal: Terminal,
  json: boolean,
): void {
  if (json) {
    const error = { code, message, ...(issues.length > 0 && { issues }), ...(fixes.length > 0 && { fixes }) };
    terminal.note(`${JSON.stringify({ event: 'failed', error })}\n`);
    return;
  }
  const { red, dim } = paint(terminal.colour.note);
  const [first] = issues;
  const whole = first === undefined ? message : message.replace(first.message, () => withOperation(first));
  const shown = new Set<string>();
  /** Leaves out repeated texts: servers repeat a single issue as the message, with its suggestion. */
  const once = (text: string, line: string) => {
    if (whole.includes(text) || shown.has(text)) return [];
    shown.add(text);
    return [line];
  };
  const lines = [
    `${red('error:')} ${visible(whole)}`,
    ...issues
      .slice(0, MOST_SHOWN)
      .flatMap((issue) => [
        ...once(withOperation(issue), `  ${visible(withOperation(issue))}`),
        ...(issue.suggestion === undefined
          ? []
          : once(issue.suggestion, `    ${dim('→')} ${visible(issue.suggestion)}`)),
      ]),
    ...(issues.length > MOST_SHOWN ? [`  and ${issues.length - MOST_SHOWN} more; --json lists them`] : []),
    ...fixes.flatMap((fix) => once(fix, `  ${dim('→')} ${visible(fix)}`)),
  ];
  terminal.note(`${lines.join('\n')}\n`);
}

function withOperation({ operationId, message }: TroubleIssue): string {
  return operationId === undefined ? message : `${operationId}: ${message}`;
}

const MOST_SHOWN = 20;
