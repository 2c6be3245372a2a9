/** The text of one message of a workflow, and its position. */
export interface WorkflowRecord {
  readonly text: string;
  /** The line in which the message begins, counted from 1. */
  readonly line: number;
  readonly offset: number;
}

/**
 * The messages in a text: one per line, or, if the first line is only `{`, objects over several lines that each begin
 * in the first column. JSON lines are whole objects, so the two forms cannot be confused.
 */
export function recordsOf(text: string): readonly WorkflowRecord[] {
  let line = 1;
  let offset = 0;
  return text.split(OPENS_ONLY.test(text) ? BEFORE_OBJECT : '\n').map((raw) => {
    const record = { text: raw.endsWith('\r') ? raw.slice(0, -1) : raw, line, offset };
    line += raw.split('\n').length;
    offset += raw.length + 1;
    return record;
  });
}

const OPENS_ONLY = /^\s*\{[ \t\r]*\n/;
const BEFORE_OBJECT = /\n(?=\{)/;
