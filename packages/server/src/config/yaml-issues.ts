import type { Issue } from '@dragoman/protocols';
import type { LineCounter, parseDocument } from 'yaml';

/** A problem in a configuration file, with its place in the text. */
export interface ConfigIssue extends Issue {
  readonly line: number;
  readonly column: number;
}

/** The syntax errors of a YAML text, each with its place and, if one is likely, a fix. */
export function yamlIssues({ errors }: ReturnType<typeof parseDocument>, lines: LineCounter): ConfigIssue[] {
  return errors.map(({ code, message, pos: [offset] }) => {
    const suggestion = FIXES[code];
    return placed(
      { pointer: '', code: 'not_yaml', message, ...(suggestion !== undefined && { suggestion }) },
      lines.linePos(offset),
    );
  });
}

export function placed(issue: Issue, { line, col }: { line: number; col: number }): ConfigIssue {
  return { ...issue, message: `line ${line}, column ${col}: ${issue.message}`, line, column: col };
}

const FIXES: Readonly<Record<string, string>> = {
  BAD_INDENT: 'indent it like the lines around it, and close quotes and brackets above',
  BAD_SCALAR_START: 'put the text in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'put the rest on a separate line, or the text in quotes',
  DUPLICATE_KEY: 'keep one of them',
  MISSING_CHAR: 'close the quote or bracket that was opened above',
  MULTILINE_IMPLICIT_KEY: 'put a colon and a space after the name',
  TAB_AS_INDENT: 'indent with spaces',
};
