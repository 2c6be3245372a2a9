import { newEnvelope } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { memoryStore, nextProcess } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import { type ModuleAgentFunction, moduleAgent } from '../agents/module-agent.ts';
import { ALL_PERMISSIONS, type Principal } from '../call/principal.ts';
import { Engine } from '../engine/engine.ts';
import { openWorkflows } from '../executions/workflows.ts';
import type { Gate } from '../gate/gate.ts';
import { failureOf } from '../refusals/refused.ts';
import { stringOf } from '../text/long-text.ts';
import { askTarget } from './ask-target.ts';

const ann: Principal = { id: 'ann', kind: 'agent', permissions: ALL_PERMISSIONS };
const KEY = { owner: 'ann', executionId: 'e1' };
const gate: Gate = {
  check: async () => undefined,
  request: () => Promise.reject(new Error('nothing goes out here')),
};

/** A process with one agent, on a store that outlives the process. */
function started(store: ReturnType<typeof memoryStore>, agent: ModuleAgentFunction) {
  const [clock, ids, log] = [new TestClock(), new TestIds(), new SilentLog()];
  const engine = new Engine({ store, clock, ids, log, anonymousSender: () => ann });
  engine.addAgent(moduleAgent('worker', agent));
  const { executions, reader } = openWorkflows({
    store,
    runs: engine.runs.table,
    folder: '/nowhere',
    gate,
    apis: { version: 1, list: () => [], find: () => undefined },
    credentials: { list: () => [], find: () => undefined, noteRefusal: () => {}, redactorFor: () => undefined },
    limiter: engine.limiter,
    askTarget: askTarget({ engine, clock, log }),
    questions: engine.questions,
    principalNamed: () => ann,
    clock,
    ids,
    log,
  });
  const begin = async () => {
    const lines = [
      {
        type: 'operationUpdate',
        operationId: 'ask',
        operation: { CallAgent: { agent: 'worker', message: 'work', outputPath: '/workflow/out' } },
      },
      { type: 'beginExecution', executionId: KEY.executionId, operationOrder: ['ask'] },
    ];
    const read = reader.read({ workflow: lines.map((line) => JSON.stringify(line)).join('\n') });
    if (!read.ok) throw new Error(JSON.stringify(read));
    return executions.execute(read.request, { principal: ann });
  };
  const call = { principal: ann, signal: new AbortController().signal, log };
  return { engine, executions, begin, call };
}

test('a stop suspends an execution and interrupts its calls, and the next start ends it', async () => {
  const store = memoryStore();
  let requests = 0;
  const worker: ModuleAgentFunction = async function* () {
    requests += 1;
    yield 'started';
    await new Promise(() => {});
  };
  const first = started(store, worker);
  const execution = await first.begin();
  const result = execution.result().catch(failureOf);
  await expect.poll(() => requests).toBe(1);
  await first.engine.stop({ drainMs: 0 });
  expect(await result).toMatchObject({ code: 'interrupted' });
  expect(await store.executions.find({ owner: 'ann', executionId: 'e1' })).toMatchObject({ end: null });
  const frames = await store.requests.frames(
    { owner: 'ann', requestId: 'e1:ask' },
    { after: -1, limit: 10, maxBytes: 10_000 },
  );
  expect(JSON.parse(frames.at(-1)?.text ?? '')).toMatchObject({ body: { code: 'E2A.INTERRUPTED' } });

  const second = started(nextProcess(store), worker);
  await second.engine.start();
  const resumed = await second.executions.follow(KEY);
  const answer = JSON.parse(await stringOf((await resumed?.result()) ?? ''));
  expect(answer).toMatchObject({ execution_id: 'e1', status: 'error', error: { details: { code: 'interrupted' } } });
  // Effects at most once: the outcome of the call is in the journal.
  expect(requests).toBe(1);
  await second.engine.stop({ drainMs: 0 });
});

test('while a stop waits, an execution may still call an agent, and callers may not start another execution', async () => {
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const { engine, begin, call } = started(memoryStore(), async function* () {
    await held;
    return { done: true };
  });
  engine.addAgent(
    moduleAgent('other', async function* () {
      return { other: true };
    }),
  );
  const execution = await begin();
  const stopped = engine.stop({ drainMs: 10_000 });
  await expect(begin()).rejects.toThrow('The server is stopping.');
  const envelope = newEnvelope({ request_id: 'r1', method: 'chat.send', agent_ref: { id: 'other' } });
  const frame = await engine.handle(envelope, call).final();
  expect(frame?.isFinal).toBe(true);
  letGo();
  expect(JSON.parse(await stringOf(await execution.result()))).toMatchObject({ status: 'success' });
  await stopped;
});
