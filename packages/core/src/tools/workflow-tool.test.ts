import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { toolEntry } from '../../test-support/configured.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import { ALL_PERMISSIONS } from '../call/principal.ts';
import { DEFAULT_WORKFLOW_LIMITS as limits } from '../executions/limits.ts';
import { WorkflowRequestReader } from '../executions/workflow-request.ts';
import { BUILT_IN as catalog } from '../workflow/catalog.ts';
import { configuredTool, type ToolBackends } from './configured-tool.ts';
import { RunningTool } from './running-tool.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-workflow-tool-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const workflows = { reader: new WorkflowRequestReader(), limits, catalog };
const backends = { ids: new TestIds(), workflows } as unknown as ToolBackends;

function opened(...lines: readonly (object | string)[]) {
  const path = join(folder, 'w.jsonl');
  writeFileSync(path, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
  return configuredTool(toolEntry({ name: 'flow', workflow: path }), backends).definition;
}

const wait = (operationId: string, duration: unknown) => ({
  type: 'operationUpdate',
  operationId,
  operation: { Wait: { duration } },
});
const begin = { type: 'beginExecution', executionId: 'e', operationOrder: ['a'] };

test('a workflow that can be run is taken, also with blanks where something else would have to stand', () => {
  expect(opened(wait('a', 1), begin).input_parameters).toEqual([]);
  const [blank] = opened(wait('a', '{{ms}}'), begin).input_parameters;
  expect(blank).toMatchObject({ name: 'ms', required: true });
});

test('its problems are reported when the tools are loaded, with the line of the file', () => {
  expect(() => opened(wait('a', 1), '', wait('b', 'x'), begin)).toThrow(/tool flow: .*line 3: duration must be/);
  expect(() => opened(wait('a', '{{ms}}'), { ...wait('b', 1), operation: { Wiat: {} } }, begin)).toThrow(
    /line 2: "Wiat" is not an operation/,
  );
  expect(() => opened(begin)).toThrow('cannot be run: a workflow must define at least one operation');
  expect(() => opened('')).toThrow('cannot be run');
});

const fetch = (url: string, outputPath = '/workflow/all') => ({
  type: 'operationUpdate',
  operationId: 'fetch',
  operation: { ApiCall: { method: 'GET', url, outputPath } },
});
const extract = (pattern: string, inputPath = '/workflow/all') => ({
  type: 'operationUpdate',
  operationId: 'extract',
  operation: { ExtractText: { inputPath, outputPath: '/workflow/found', pattern } },
});
const both = { ...begin, operationOrder: ['fetch', 'extract'] };

test('so is what only its plan shows, also beside blanks', () => {
  const url = 'https://api.example.com/{{id}}';
  expect(opened(fetch(url), extract('a+'), both).input_parameters).toMatchObject([{ name: 'id' }]);
  expect(() => opened(fetch(url), extract('a+', '/workflow/none'), both)).toThrow(/line 2: .*\/workflow\/none/);
  expect(() => opened(fetch(url), extract('('), both)).toThrow(/line 2: pattern/);
  const order = Array(21).fill('a');
  expect(() => opened(wait('a', 1), { ...begin, operationOrder: order })).toThrow(/cannot be run: .*"a"/);
  expect(() => opened(wait('a', 40_000), begin)).toThrow('cannot be run');
});

test('a problem that an argument can still fix is not reported before the call', () => {
  // It decides what the first writes, so that the second may find what it reads.
  const url = 'https://api.example.com/';
  expect(opened(fetch(url, '/workflow/{{to}}'), extract('a+'), both).input_parameters).toMatchObject([{ name: 'to' }]);
  expect(opened(fetch(url), extract('{{pattern}}('), both).input_parameters).toMatchObject([{ name: 'pattern' }]);
});

test('an execution that is taken only when its call was given up already is cancelled all the same', async () => {
  const path = join(folder, 'given-up.jsonl');
  writeFileSync(path, [wait('a', 1), begin].map((line) => JSON.stringify(line)).join('\n'));
  const cancelled: unknown[] = [];
  const running = new RunningTool({ id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS });
  const executions = {
    execute: async () => {
      running.end(new Error('enough'));
      return { events: async function* () {}, result: async () => Promise.reject(new Error('cancelled')) };
    },
    cancel: async (which: unknown) => cancelled.push(which),
  };
  const tool = configuredTool(toolEntry({ name: 'flow', workflow: path }), {
    ...backends,
    workflows: { ...workflows, executions },
  } as unknown as ToolBackends);
  await expect(tool.run({}, running)).rejects.toThrow('cancelled');
  expect(cancelled).toEqual([{ owner: 'ada', executionId: expect.stringMatching(/^tool-/) }]);
});
