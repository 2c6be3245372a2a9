import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { TestIds } from '../../test-support/test-ids.ts';
import { AskedReader } from '../executions/asked.ts';
import { configuredTool, type ToolBackends } from './configured-tool.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-workflow-tool-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const backends = { ids: new TestIds(), workflows: { reader: new AskedReader() } } as unknown as ToolBackends;

function opened(...lines: readonly (object | string)[]) {
  const path = join(folder, 'w.jsonl');
  writeFileSync(path, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
  return configuredTool({ name: 'flow', workflow: path }, backends).definition;
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

test('what is wrong with it is told when the tools are loaded, with the line of the file', () => {
  expect(() => opened(wait('a', 1), '', wait('b', 'x'), begin)).toThrow(/tool flow: .*line 3: duration must be/);
  expect(() => opened(wait('a', '{{ms}}'), { ...wait('b', 1), operation: { Wiat: {} } }, begin)).toThrow(
    /line 2: "Wiat" is not an operation/,
  );
  expect(() => opened(begin)).toThrow('cannot be run: a workflow must define at least one operation');
  expect(() => opened('')).toThrow('cannot be run');
});
