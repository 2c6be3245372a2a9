import type { JsonObject } from '@dragoman/protocols';
import { decodeWire, type WireMessage } from '@dragoman/protocols/a2e-wire';
import { expect, test } from 'vitest';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { TestClock } from '../../../test-support/test-clock.ts';
import { TestIds } from '../../../test-support/test-ids.ts';
import { ALL_PERMISSIONS } from '../../call/principal.ts';
import { Ending } from '../../ending/ending.ts';
import { toolFrom } from '../define-tool.ts';
import { FixedTools } from '../fixed-tools.ts';
import { SessionToolkits } from '../session-toolkits.ts';
import type { Skills } from '../skills.ts';
import type { Tool } from '../tool.ts';
import { ToolRegistry } from '../tool-registry.ts';
import type { WireCall } from '../wire/plugin.ts';
import { chainsPlugin } from './chains.ts';

const clock = new TestClock();
const input = { type: 'object' };
let isStuck = () => {};
const tools = new ToolRegistry({ clock, maxTimeoutMs: 86_400_000 });
tools.add(
  new FixedTools([
    toolFrom({ name: 'echo', input, run: (args) => args }),
    toolFrom({ name: 'large', input, run: () => ({ rows: 'x'.repeat(1_100_000) }) }),
    toolFrom({ name: 'stuck', input, run: () => new Promise(() => isStuck()) }),
    ofToolkit('files', toolFrom({ name: 'of_files', input, run: () => 1 })),
  ]),
);
const toolkits = new SessionToolkits();
const plugin = chainsPlugin({
  tools,
  skills: {} as Skills,
  toolkits,
  clock,
  ids: new TestIds(),
  count: () => {},
});

function run(
  nodes: JsonObject[],
  more: JsonObject = {},
  permissions = ALL_PERMISSIONS,
  hidden: readonly string[] = [],
) {
  const request = { a2e: '1.0', type: 'chain/req', id: 'c', ts: 1, nodes, ...more };
  const message = decodeWire(request, clock.now()) as unknown as { value: WireMessage };
  const ending = new Ending();
  const principal = { id: 'ada', kind: 'agent', permissions } as const;
  const session = { id: 's', principal, closed: new AbortController().signal, push: () => {} };
  for (const toolkit of hidden) toolkits.hide(session, toolkit);
  const call: WireCall = { session, requestId: 'c', signal: ending.signal, ending, log: new SilentLog(), event() {} };
  return plugin.handle(message.value, call);
}

test('a chain that times out reports its finished nodes', async () => {
  const nodes = [
    { node_id: 'first', kind: 'tool', name: 'echo', input: { a: 1 }, next_node: 'second' },
    { node_id: 'second', kind: 'tool', name: 'stuck', on_error: 'skip' },
  ];
  const stuck = new Promise<void>((resolve) => {
    isStuck = resolve;
  });
  const answer = run(nodes, { timeout: 5 });
  await stuck;
  clock.pass(5_000);
  expect(await answer).toMatchObject({
    success: false,
    outputs: { first: { a: 1 } },
    final_output: { a: 1 },
    nodes_run: 2,
    error: { code: 'timeout', message: 'the chain did not finish within 5 s' },
  });
});

test('a chain that is given longer than any timer can wait is given the longest there is, not nothing', async () => {
  const stuck = new Promise<void>((resolve) => {
    isStuck = resolve;
  });
  let isOver = false;
  const answer = Promise.resolve(run([{ node_id: 'a', kind: 'tool', name: 'stuck' }], { timeout: 1e12 }));
  void answer.then(() => {
    isOver = true;
  });
  await stuck;
  await clock.advance(3_599_999);
  expect(isOver).toBe(false);
  await clock.advance(1);
  expect(isOver).toBe(true);
  expect(await answer).toMatchObject({ error: { code: 'timeout' } });
});

test('a chain finds no tool that its connection has put away', async () => {
  const nodes = [{ node_id: 'a', kind: 'tool', name: 'of_files' }];
  expect(await run(nodes)).toMatchObject({ success: true, final_output: 1 });
  expect(await run(nodes, {}, ALL_PERMISSIONS, ['files'])).toMatchObject({
    success: false,
    error: { code: 'chain_node_error', message: expect.stringContaining('There is no tool "of_files"') },
  });
});

test('the steps of a chain listen for its end as one', async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error) => void warnings.push(warning);
  process.on('warning', listen);
  const nodes = [
    { node_id: 'all', kind: 'map', items_path: '$.list', map_node: 'one' },
    { node_id: 'one', kind: 'tool', name: 'echo' },
  ];
  const answer = await run(nodes, { initial_input: { list: Array.from({ length: 50 }, (_, n) => n) } });
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', listen);
  expect(answer).toMatchObject({ success: true });
  expect(warnings).toEqual([]);
});

test('a step whose result had to be cut has failed: later steps would work on a part of it', async () => {
  const nodes = [
    { node_id: 'first', kind: 'tool', name: 'large', next_node: 'second' },
    { node_id: 'second', kind: 'tool', name: 'echo', input_map: { rows: '$.first.rows' } },
  ];
  expect(await run(nodes)).toMatchObject({
    success: false,
    outputs: {},
    error: { code: 'chain_node_error', message: expect.stringContaining('too long') },
  });
});

test.each([
  ['one node', [{ node_id: 'a', kind: 'tool', name: 'echo' }]],
  ['a node that is passed over', [{ node_id: 'a', kind: 'tool', name: 'echo', on_error: 'skip' }]],
  [
    'an item of a map',
    [
      { node_id: 'all', kind: 'map', items_path: '$.list', map_node: 'a' },
      { node_id: 'a', kind: 'tool', name: 'echo' },
    ],
  ],
])('a step without permission names the permission to request: %s', async (_, nodes) => {
  const answer = await run(nodes, { initial_input: { list: [1] } }, { ...ALL_PERMISSIONS, tools: [] });
  expect(answer).toMatchObject({
    success: false,
    error: { code: 'chain_node_error', suggestions: ['ask the operator to add "echo" to permissions.tools'] },
  });
});

function ofToolkit(toolkit: string, tool: Tool): Tool {
  return { ...tool, definition: { ...tool.definition, toolkit } };
}
