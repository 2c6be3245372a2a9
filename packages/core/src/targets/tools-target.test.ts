import { type JsonObject, newEnvelope } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import type { AgentPart } from '../agents/agent.ts';
import { ALL_PERMISSIONS, NO_PERMISSIONS } from '../call/principal.ts';
import { callerTools } from '../tools/caller-tools.ts';
import { toolFrom } from '../tools/define-tool.ts';
import { FixedTools } from '../tools/fixed-tools.ts';
import { ToolRegistry } from '../tools/tool-registry.ts';
import { toolsTarget } from './tools-target.ts';

const registry = new ToolRegistry({ clock: new TestClock() });
registry.add(
  new FixedTools([
    toolFrom({
      name: 'count',
      input: {},
      run: (_, call) => {
        call.progress(50, 'half');
        return { counted: 2 };
      },
    }),
    toolFrom({ name: 'broken', input: {}, run: (_, call) => call.failed('no such city', { code: 'NO_CITY' }) }),
  ]),
);
const target = toolsTarget('tools');
const ada = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS } as const;

async function answered(method: string | null, params: JsonObject = {}) {
  const { signal } = new AbortController();
  const tools = callerTools(registry, { principal: ada, signal, hops: 0 });
  const envelope = newEnvelope({ request_id: 'r1', method, params });
  const parts: AgentPart[] = [];
  for await (const part of target.answer(envelope, { principal: ada, signal, tools, log: new SilentLog() }))
    parts.push(part);
  return parts;
}

test("a tool's progress arrives as tool chunks before its result", async () => {
  expect(await answered('count')).toEqual([
    {
      part: 'chunk',
      body: {
        delta_kind: 'tool',
        delta: {
          tool_call_id: 'r1',
          tool: 'count',
          status: 'in_progress',
          event: 'progress',
          data: { pct: 50, message: 'half' },
        },
      },
    },
    { part: 'complete', result: { counted: 2 } },
  ]);
});

test('a tool that did not succeed ends as a failure with its own code', async () => {
  expect(await answered('broken')).toMatchObject([
    {
      part: 'failure',
      failure: { code: 'tool_failed', message: 'no such city', details: { error_code: 'NO_CITY' } },
    },
  ]);
});

test.each([[null], ['']])('the method %j does not name a tool, and the failure reports it', async (method) => {
  expect(await answered(method)).toMatchObject([{ part: 'failure', failure: { code: 'unknown_method' } }]);
});

test('an unknown tool is refused', async () => {
  await expect(answered('nothing')).rejects.toMatchObject({ failure: { code: 'not_found' } });
});

test('permissions.tools decides who may call a tool, and the refusal names the permission', () => {
  const envelope = newEnvelope({ method: 'count' });
  expect(target.refusal?.(envelope, ada)).toBeUndefined();
  expect(target.refusal?.(envelope, { ...ada, permissions: NO_PERMISSIONS })).toMatchObject({
    code: 'forbidden',
    details: { suggestions: ['ask the operator to add "count" to permissions.tools'] },
  });
});
