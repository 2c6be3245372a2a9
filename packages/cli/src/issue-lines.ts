import type { Issue } from '@dragoman/protocols';
import type { Paint } from './paint.ts';
import { visible } from './visible.ts';

export interface IssueStyle {
  /** The prefix of each line, with a space at its end. */
  readonly label: string;
  /** The text that offsets refer to. */
  readonly text: string | undefined;
  readonly paint: Paint;
}

/** Issues as text: the place, the problem, and the nearest fix. */
export function issueLines(issues: readonly Issue[], { label, text, paint: { bold, dim } }: IssueStyle): string {
  return issues
    .map((issue) => {
      const line = `  ${label}${bold(visible(placeOf(issue, text)))}  ${visible(issue.message)} ${dim(`[${issue.code}]`)}\n`;
      return issue.suggestion === undefined ? line : `${line}    ${dim('→')} ${visible(issue.suggestion)}\n`;
    })
    .join('');
}

/** The field, or for faults found before there are fields, the line and column. */
function placeOf({ pointer, offset }: Issue, text: string | undefined): string {
  if (offset === undefined || text === undefined) return pointer === '' ? '(whole message)' : pointer;
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return `line ${line}, column ${offset - before.lastIndexOf('\n')}`;
}
