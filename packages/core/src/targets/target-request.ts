import { failure, isObject, type Json, type JsonObject, parseJson } from '@dragoman/protocols';
import type { BuiltInTarget } from '../call/target.ts';
import { Refused } from '../refusals/refused.ts';

export interface RequestInContent {
  readonly method: string;
  readonly params: JsonObject;
}

/**
 * The request in a message to one of the server's own targets. The content, at `pointer`, is a JSON object or its text.
 */
export function targetRequest(target: BuiltInTarget, content: Json, pointer: string): RequestInContent {
  const fields = objectIn(content);
  const request = fields === undefined ? undefined : READERS[target](fields);
  if (request !== undefined) return request;
  const field = pointer.slice(1).replaceAll('/', '.');
  const message = `${field} to "${target}" must be ${EXPECTED[target]}`;
  throw new Refused(failure('invalid_message', { issues: [{ pointer, code: 'content', message }] }, message));
}

const READERS: Readonly<Record<BuiltInTarget, (fields: JsonObject) => RequestInContent | undefined>> = {
  tools: ({ tool, arguments: args = {} }) =>
    typeof tool === 'string' && isObject(args) ? { method: tool, params: args } : undefined,
  workflows: (fields) => {
    const { name, inputs = {} } = fields;
    if (typeof name === 'string' && isObject(inputs)) return { method: name, params: inputs };
    return fields['workflow'] === undefined ? undefined : { method: 'workflow.execute', params: fields };
  },
  agents: ({ describe }) =>
    typeof describe === 'string'
      ? { method: 'agents.describe', params: { id: describe } }
      : { method: 'agents.list', params: {} },
};

const EXPECTED: Readonly<Record<BuiltInTarget, string>> = {
  tools: '{"tool": "NAME", "arguments": {…}}',
  workflows: '{"workflow": …} or {"name": "NAME", "inputs": {…}}',
  agents: '{} or {"describe": "AGENT_ID"}',
};

function objectIn(content: Json): JsonObject | undefined {
  if (typeof content !== 'string') return isObject(content) ? content : undefined;
  const parsed = parseJson(content);
  return parsed.ok && isObject(parsed.value) ? parsed.value : undefined;
}
