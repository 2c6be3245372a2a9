import {
  type Dialect,
  dialectOf,
  type Issue,
  type Json,
  type Outcome,
  parseJson,
  parseJsonBytes,
  reject,
} from '@dragoman/protocols';
import { DIALECT_NAMES } from './dialect-names.ts';

/** The content of a file: one message as JSON, or a workflow as JSON lines. */
export type MessageFile =
  | { readonly kind: 'message'; readonly dialect: Dialect<unknown>; readonly json: Json }
  | { readonly kind: 'workflow-text'; readonly dialect: Dialect<unknown>; readonly text: string };

/** Reads a file in the given dialect, or recognizes the dialect by the shape of its content. `option` gives the dialect. */
export function readMessageFile(
  bytes: Uint8Array,
  given: Dialect<unknown> | undefined,
  option: '--dialect' | '--from',
): Outcome<MessageFile> {
  const parsed = parseJsonBytes(bytes);
  if (parsed.ok) {
    const dialect = given ?? dialectOf(parsed.value);
    if (dialect === undefined) return reject(unrecognised(option));
    return { ok: true, value: { kind: 'message', dialect, json: parsed.value }, warnings: [] };
  }
  // Several JSON values in a row are probably a workflow.
  const lines = linesIn(bytes);
  const dialect = lines === undefined ? undefined : (given ?? dialectOf(lines.first));
  if (lines === undefined || dialect?.name !== 'a2e-workflow') return parsed;
  return { ok: true, value: { kind: 'workflow-text', dialect, text: lines.text }, warnings: [] };
}

/** The text with its first value, if the first line that is not blank is JSON and another line follows. */
function linesIn(bytes: Uint8Array): { text: string; first: Json } | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
  const [line, next] = text.split('\n').filter((each) => each.trim() !== '');
  if (line === undefined || next === undefined) return undefined;
  const first = parseJson(line.trim());
  return first.ok ? { text, first: first.value } : undefined;
}

function unrecognised(option: string): Issue {
  return {
    pointer: '',
    code: 'unknown_dialect',
    message: 'the message does not match any known dialect',
    suggestion: `specify the dialect: ${option} ${DIALECT_NAMES.join('|')}`,
  };
}
