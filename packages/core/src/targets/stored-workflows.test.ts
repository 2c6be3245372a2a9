import type { JsonObject } from '@dragoman/protocols';
import { beforeEach, describe, expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { NO_PERMISSIONS } from '../call/principal.ts';
import { DEFAULT_WORKFLOW_LIMITS as limits } from '../executions/limits.ts';
import { WorkflowRequestReader } from '../executions/workflow-request.ts';
import type { WorkflowStore } from '../store/workflows.ts';
import { BUILT_IN as catalog } from '../workflow/catalog.ts';
import { decodeStoredWorkflow } from './decode-stored-workflow.ts';
import { type StoredDefinition, StoredWorkflows } from './stored-workflows.ts';

const rules = { reader: new WorkflowRequestReader(), limits, catalog };
let store: WorkflowStore;
let log: SilentLog;
let stored: StoredWorkflows;

beforeEach(async () => {
  store = memoryStore().workflows;
  stored = await opened();
});

async function opened(...configured: readonly StoredDefinition[]): Promise<StoredWorkflows> {
  log = new SilentLog();
  const workflows = new StoredWorkflows({ rules, store, clock: new TestClock(), log });
  await workflows.load(configured);
  return workflows;
}

const waiting = (name: string, duration: number | string = 1) => definition(name, { Wait: { duration } });
const running = (name: string, ...names: readonly string[]) =>
  definition(name, ...names.map((one) => ({ RunWorkflow: { name: one, outputPath: `/workflow/${one}` } })));

function definition(name: string, ...operations: readonly JsonObject[]): StoredDefinition {
  const lines = operations.map((operation, index) => ({
    type: 'operationUpdate',
    operationId: `o${index}`,
    operation,
  }));
  const begin = {
    type: 'beginExecution',
    executionId: 'e',
    operationOrder: lines.map(({ operationId }) => operationId),
  };
  return { name, description: '', text: [...lines, begin].map((line) => JSON.stringify(line)).join('\n') };
}

describe('a workflow of administration', () => {
  test('runs in its newest version, including after a restart', async () => {
    expect(await stored.put(waiting('w'))).toMatchObject({ change: 'made', workflow: { version: 1 } });
    const before = stored.version;
    expect(await stored.put(waiting('w', 2))).toMatchObject({ change: 'replaced', workflow: { version: 2 } });
    expect(stored.version).toBeGreaterThan(before);
    const again = await opened();
    expect(again.find('w')).toMatchObject({ version: 2, text: waiting('w', 2).text });
    expect((await again.versions('w')).map(({ version }) => version)).toEqual([2, 1]);
  });

  test('keeps its version when the same is stored again', async () => {
    const { workflow } = await stored.put(waiting('w'));
    const before = stored.version;
    expect(await stored.put(waiting('w'))).toEqual({ change: 'none', workflow });
    expect(stored.version).toBe(before);
  });

  test('is gone when it is removed, and its version numbers continue when it is stored again', async () => {
    await stored.put(waiting('w'));
    expect(await stored.remove('w')).toBe(true);
    expect(await stored.remove('w')).toBe(false);
    expect(stored.find('w')).toBeUndefined();
    expect((await stored.put(waiting('w'))).workflow.version).toBe(2);
  });

  test('that no caller could run is refused with its issues, and nothing is stored', async () => {
    await expect(stored.put(definition('w', { Wiat: {} }))).rejects.toMatchObject({
      failure: {
        code: 'invalid_message',
        details: { issues: [{ pointer: '/workflow', message: expect.stringContaining('line 1: "Wiat" is not') }] },
      },
    });
    await expect(stored.put({ name: 'w', description: '', text: '{' })).rejects.toMatchObject({
      failure: { details: { issues: [{ code: 'not_json' }] } },
    });
    expect(await store.list()).toEqual([]);
  });

  test('that cannot run any more is left out at the start, and the log names it', async () => {
    const { name, text } = definition('old', { Gone: {} });
    await store.put({ name, text, description: '', planHash: 'h', createdAt: 1 });
    await stored.put(waiting('w'));
    expect((await opened()).names()).toEqual(['w']);
    expect(log.lines).toMatchObject([{ level: 'error', fields: { workflow: 'old' } }]);
  });
});

test('a workflow of the configuration wins, and administration cannot change it', async () => {
  await stored.put(waiting('w', 7));
  const configured = await opened(waiting('w'));
  expect(configured.find('w')?.text).toBe(waiting('w').text);
  expect(configured.isConfigured('w')).toBe(true);
  const conflict = { failure: { code: 'conflict', message: expect.stringContaining('in the configuration file') } };
  await expect(configured.put(waiting('w', 2))).rejects.toMatchObject(conflict);
  await expect(configured.remove('w')).rejects.toMatchObject(conflict);
  configured.configure(configured.configured([]));
  expect(configured.find('w')?.text).toBe(waiting('w', 7).text);
});

describe('workflows that run each other in a circle', () => {
  test('are refused when the last one is stored, with the path of the circle', async () => {
    await stored.put(running('a', 'b'));
    await stored.put(running('b', 'x', 'c'));
    await expect(stored.put(running('c', 'a'))).rejects.toMatchObject({
      failure: {
        message: 'stored workflows run each other in a circle: a → b → c → a',
        details: { issues: [{ code: 'cycle' }] },
      },
    });
    await expect(stored.put(running('d', 'd'))).rejects.toThrow('d → d');
    expect(stored.names()).toEqual(['a', 'b']);
  });

  test('are refused when two of them are stored at once', async () => {
    const outcomes = await Promise.allSettled([stored.put(running('a', 'b')), stored.put(running('b', 'a'))]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  test('are refused in a configuration, including one that closes a circle with administration', async () => {
    await expect(opened(running('a', 'b'), running('b', 'a'))).rejects.toThrow('a → b → a');
    await stored.put(running('a', 'b'));
    expect(() => stored.configured([running('b', 'a')])).toThrow('a → b → a');
  });

  test('differ from a workflow that two others run', async () => {
    await stored.put(waiting('leaf'));
    await stored.put(running('left', 'leaf'));
    await stored.put(running('right', 'leaf'));
    expect(await stored.put(running('top', 'left', 'right', 'leaf'))).toMatchObject({ change: 'made' });
  });

  test('are found in lines with inputs, except where the name itself is an input', async () => {
    const wait = { Wait: { duration: '{{ms}}' } };
    const run = (name: string) => ({ RunWorkflow: { name, outputPath: '/workflow/out' } });
    await expect(stored.put(definition('a', wait, run('a')))).rejects.toThrow('a → a');
    expect((await stored.put(definition('a', wait, run('{{name}}')))).workflow.runs).toEqual([]);
  });
});

test('the plan hash of a workflow without inputs is that of its plan, and changes with what it does', async () => {
  const hashOf = async (one: StoredDefinition) => (await stored.put(one)).workflow.planHash;
  const first = await hashOf(waiting('w'));
  expect(await hashOf({ ...waiting('w'), text: `${waiting('w').text}\n` })).toBe(first);
  expect(await hashOf(waiting('w', 2))).not.toBe(first);
  expect(await hashOf(waiting('w', '{{ms}}'))).not.toBe(await hashOf(waiting('w', '{{seconds}}')));
});

test('permissions.workflows decides which ones a caller sees', async () => {
  await stored.put(waiting('b'));
  await stored.put(waiting('a'));
  const list = (workflows: readonly string[]) =>
    stored.list({ id: 'ada', kind: 'agent', permissions: { ...NO_PERMISSIONS, workflows } }).map(({ name }) => name);
  expect([list([]), list(['b', 'c']), list(['*'])]).toEqual([[], ['b'], ['a', 'b']]);
});

test('a definition may be lines or messages', () => {
  const { text } = waiting('w');
  const lines = text.split('\n').map((line) => JSON.parse(line));
  expect(decodeStoredWorkflow('w', { workflow: lines, description: 'waits' })).toMatchObject({
    value: { name: 'w', description: 'waits', text },
  });
  expect(decodeStoredWorkflow('w', { workflow: text })).toMatchObject({ value: { description: '', text } });
});

test.each([
  ['workflow.execute', { workflow: 'x' }, ''],
  ['a/b', { workflow: 'x' }, ''],
  ['w', {}, '/workflow'],
  ['w', { workflow: '' }, '/workflow'],
  ['w', { workflow: ['x'] }, '/workflow/0'],
  ['w', { workflow: 'x', version: 1 }, '/version'],
])('the name %j with the body %j is refused', (name, body, pointer) => {
  expect(decodeStoredWorkflow(name, body)).toMatchObject({ ok: false, issues: [{ pointer }] });
});
