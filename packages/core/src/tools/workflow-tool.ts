import { readFileSync } from 'node:fs';
import { isObject, type Json, type JsonObject, parseJson } from '@dragoman/protocols';
import type { Finding } from '@dragoman/protocols/a2e-workflow';
import { unreadableLines } from '../executions/asked.ts';
import type { Begun } from '../executions/begun.ts';
import type { Workflows } from '../executions/workflows.ts';
import { stringOf } from '../long-text.ts';
import { Refused } from '../refused.ts';
import type { Backend, ToolBackends } from './configured-tool.ts';
import { FailedOutcome, type ToolCall, type ToolOutcome } from './tool.ts';
import type { ConfiguredTool } from './tools-config.ts';
import { type Blank, blanksIn, filled } from './workflow-blanks.ts';

/**
 * A tool that an A2E workflow answers. `{{name}}` in its lines stands for an argument; what comes out is the caller's
 * workflow like any other: checked, authorised, recorded and run with the caller's own permissions.
 */
export function workflowTool({ name, workflow = '' }: ConfiguredTool, { workflows, ids }: ToolBackends): Backend {
  if (workflows === undefined) throw new Error(`tool ${name}: there is nothing here that runs workflows`);
  const { executions, reader } = workflows;
  const written = linesOf(name, workflow);
  const lines = written.map(({ line }) => line);
  const problem = problemIn(written, reader);
  if (problem !== undefined) throw new Error(`tool ${name}: the workflow ${workflow} cannot be run: ${problem}`);
  return {
    input: inputFor(blanksIn(lines)),
    async run(args, call) {
      const executionId = `tool-${ids.hex()}`;
      const read = reader.read({ workflow: textOf(lines, args, executionId) });
      if ('failure' in read) throw new Refused(read.failure);
      if (!read.ok) throw new Refused(unreadableLines(read.issues));
      const { principal, signal } = call;
      const asked = { ...read.asked, workflow: { ...read.asked.workflow, executionId } };
      const execution = await executions.execute(asked, { principal });
      const cancel = () => void executions.cancel({ owner: principal.id, executionId }).catch(() => {});
      signal.addEventListener('abort', cancel, { once: true });
      if (signal.aborted) cancel();
      try {
        await follow(execution, call);
        return outcomeOf(JSON.parse(await stringOf(await execution.result())) as JsonObject);
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    },
  };
}

/**
 * What is wrong with it whatever it is called with. Of a line with a blank nothing is known before the blank is filled, nor of
 * the whole where such a line could not be read.
 */
function problemIn(written: readonly Written[], reader: Workflows['reader']): string | undefined {
  const open = new Set(written.flatMap(({ line }, index) => (blanksIn(line).length > 0 ? [String(index)] : [])));
  const lines = written.map(({ line }) => line);
  const read = reader.read({ workflow: textOf(lines, {}, 'x') });
  if (read.ok) return undefined;
  if ('failure' in read) return read.failure.message;
  const placed = read.issues.map((issue) => ({ ...issue, index: placeOf(issue, lines) }));
  const isOpen = placed.some(({ index }) => open.has(index));
  const found = placed.find(({ index }) => (index === '' ? !isOpen : !open.has(index)));
  if (found === undefined) return undefined;
  const number = written[Number(found.index)]?.number;
  const words = found.message.replace(/^line \d+: /, '');
  const fix = found.suggestion === undefined ? '' : ` (${found.suggestion})`;
  return `${found.index === '' || number === undefined ? '' : `line ${number}: `}${words}${fix}`;
}

/** The line an issue is about: that of the operation it names, or the one it points to; empty when it is about the whole. */
function placeOf({ operationId, pointer }: Finding, lines: readonly Json[]): string {
  const defining = operationId === undefined ? -1 : lines.findIndex((line) => defines(line, operationId));
  return defining === -1 ? (pointer.split('/')[2] ?? '') : String(defining);
}

function defines(line: Json, operationId: string): boolean {
  if (!isObject(line)) return false;
  const { operationUpdate: bundle } = line;
  const bundled = isObject(bundle) && Array.isArray(bundle['operations']) ? bundle['operations'] : [];
  return line['operationId'] === operationId || bundled.some((one) => isObject(one) && one['id'] === operationId);
}

function textOf(lines: readonly Json[], args: JsonObject, executionId: string): string {
  return lines.map((line) => JSON.stringify(begun(filled(line, args), executionId))).join('\n');
}

/** Each time another execution: one that was asked for before would answer what it answered then. */
function begun(line: Json, executionId: string): Json {
  return isObject(line) && line['type'] === 'beginExecution' ? { ...line, executionId } : line;
}

/** Tells each operation as it is done. */
async function follow(execution: Begun, call: ToolCall): Promise<void> {
  for await (const { event, data } of execution.events(-1)) {
    const { operationId } = JSON.parse(data) as JsonObject;
    if (typeof operationId === 'string') call.status(`${event} ${operationId}`);
  }
}

/** What each operation produced, by its id; how the execution went is beside it. */
function outcomeOf(result: JsonObject): ToolOutcome {
  const { results = {}, error, ...summary } = result;
  if (result['status'] === 'success') return { success: true, data: results, summary };
  const { type, message } = isObject(error) ? error : ({} as JsonObject);
  const words = typeof message === 'string' ? message : `The workflow ended with ${String(result['status'])}.`;
  return new FailedOutcome(words, { code: typeof type === 'string' ? type : 'WORKFLOW_FAILED', data: result });
}

function inputFor(blanks: readonly Blank[]) {
  return {
    type: 'object',
    required: blanks.map(({ name }) => name),
    properties: Object.fromEntries(blanks.map(({ name, isText }) => [name, isText ? TEXT : {}])),
    additionalProperties: false,
  };
}

/** A line of the file, counted from 1. */
interface Written {
  readonly line: Json;
  readonly number: number;
}

function linesOf(name: string, path: string): Written[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`tool ${name}: the workflow ${path} cannot be read: ${(error as Error).message}`);
  }
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const json = parseJson(line);
    if (json.ok) return [{ line: json.value, number: index + 1 }];
    throw new Error(`tool ${name}: line ${index + 1} of ${path} is not JSON: ${json.issues[0]?.message}`);
  });
}

const TEXT = { type: ['string', 'number', 'boolean'] };
