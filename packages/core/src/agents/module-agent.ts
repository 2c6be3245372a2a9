import { isObject, type Json, type JsonObject } from '@dragoman/protocols';
import type { Call } from '../call/call.ts';
import { loadModule } from '../modules/load-module.ts';
import type { Agent, AgentPart } from './agent.ts';
import { keptOf, readAgentFrame } from './agent-frame.ts';
import { mapAnswer } from './map-answer.ts';

/** The default export of a module agent: an async generator of strings, chunks and frames. Its return value is the result. */
export type ModuleAgentFunction = (envelope: Parameters<Agent['answer']>[0], call: Call) => AsyncIterable<unknown>;

/** An agent in this process, from a JavaScript or TypeScript file. */
export async function loadModuleAgent({ id, path }: { id: string; path: string }): Promise<Agent> {
  const { default: answers } = await loadModule(`agent ${id}`, path);
  if (typeof answers !== 'function') {
    throw new Error(
      `agent ${id}: ${path} has no default export that is a function. Write: export default async function* (envelope, call) { … }`,
    );
  }
  return moduleAgent(id, answers as ModuleAgentFunction);
}

/** An agent from a function, for embedding. */
export function moduleAgent(id: string, run: ModuleAgentFunction): Agent {
  return {
    id,
    answer: (envelope, call) =>
      mapAnswer<unknown, AgentPart>(() => iteratorOf(run(envelope, call)), {
        item: partOf,
        end: (returned) => ({ part: 'complete', result: asJson(returned ?? {}) }),
        failed(error) {
          if (call.signal.aborted) throw error;
          return partOfError(error);
        },
      }),
    async [Symbol.asyncDispose]() {},
  };
}

function iteratorOf(answer: unknown): AsyncIterator<unknown> {
  if (typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer) {
    return (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  }
  if (answer instanceof Promise) answer.catch(() => {});
  throw new TypeError('an agent is an async generator: export default async function* (envelope, call) { … }');
}

function partOf(yielded: unknown): AgentPart {
  if (typeof yielded === 'string') return { part: 'chunk', body: { delta_kind: 'text', delta: yielded } };
  if (isObject(yielded)) {
    if (typeof yielded['response_kind'] === 'string') return { part: 'frame', frame: frameOf(asJson(yielded)) };
    if (typeof yielded['delta_kind'] === 'string') return { part: 'chunk', body: asJson(yielded) as JsonObject };
  }
  throw new TypeError('an agent must yield strings, objects with delta_kind or objects with response_kind');
}

function frameOf(json: Json): ReturnType<typeof keptOf> {
  const read = readAgentFrame(json);
  if (read.ok) return keptOf(json, read.value);
  throw new TypeError(`an agent yielded an invalid frame: ${read.issues[0]?.message}`);
}

function partOfError(error: unknown): AgentPart {
  const { code, message, details } = (typeof error === 'object' && error !== null ? error : {}) as Record<
    string,
    unknown
  >;
  return {
    part: 'error',
    // An upper-case code is the agent's own; any other code comes from its libraries.
    code: typeof code === 'string' && /^[A-Z][A-Z0-9_.]*$/.test(code) ? code : 'E2A.AGENT_ERROR',
    message: typeof message === 'string' && message !== '' ? message : 'The agent failed.',
    ...(isObject(details) && { details: asJson(details) }),
  };
}

/** The value as JSON writes it: dates become text; functions and undefined are dropped. */
function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value) ?? 'null') as Json;
}
