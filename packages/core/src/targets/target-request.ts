import { failure, isObject, type Json, type JsonObject, parseJson } from '@dragoman/protocols';
import type { BuiltInTarget } from '../call/target.ts';
import { Refused } from '../refusals/refused.ts';

export interface RequestInContent {
  readonly method: string;
  readonly params: JsonObject;
}

/** What a message to one of the server's own targets asks for. Its content, found at `pointer`, is a JSON object or the text of one. */
export function targetRequest(target: BuiltInTarget, content: Json, pointer: string): RequestInContent {
  const asked = objectIn(content);
  const request = asked === undefined ? undefined : READERS[target](asked);
  if (request !== undefined) return request;
  const field = pointer.slice(1).replaceAll('/', '.');
  const message = `${field} to "${target}" must be ${EXPECTED[target]}`;
  throw new Refused(failure('invalid_message', { issues: [{ pointer, code: 'content', message }] }, message));
}

const READERS: Readonly<Record<BuiltInTarget, (asked: JsonObject) => RequestInContent | undefined>> = {
  tools: ({ tool, arguments: args = {} }) =>
    typeof tool === 'string' && isObject(args) ? { method: tool, params: args } : undefined,
  workflows: (asked) => {
    const { name, inputs = {} } = asked;
    if (typeof name === 'string' && isObject(inputs)) return { method: name, params: inputs };
    return asked['workflow'] === undefined ? undefined : { method: 'workflow.execute', params: asked };
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
