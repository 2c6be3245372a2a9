import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { asking, TestContext } from './call.contract.ts';
import { loadModuleAgent, type ModuleAgentFunction, moduleAgent } from './module-agent.ts';

const context = new TestContext();

test('a frame of the agent is checked like one from outside', async () => {
  const parts = await partsOf(async function* () {
    yield { response_kind: 'e2a.chunk', status: 'done', body: {} };
  });
  expect(parts).toMatchObject([{ part: 'error', code: 'E2A.AGENT_ERROR' }]);
  expect(parts[0]).toHaveProperty('message', expect.stringContaining('status must be'));
});

test('a frame that ends the answer by its kind is the end', async () => {
  const parts = await partsOf(async function* () {
    yield { response_kind: 'e2a.complete', body: { result: 1 } };
  });
  expect(parts[0]).toMatchObject({ part: 'frame', frame: { is_final: true, status: 'succeeded' } });
});

test.each([
  ['e2a.chunk', { delta_kind: 'text', delta: 'the end' }, 'succeeded'],
  ['acp.jsonrpc_error', { code: 1, message: 'no' }, 'failed'],
])(
  'a last frame, %s, with the status in_progress ends the answer all the same',
  async (response_kind, body, status) => {
    const parts = await partsOf(async function* () {
      yield { response_kind, is_final: true, status: 'in_progress', body };
    });
    expect(parts[0]).toMatchObject({ part: 'frame', frame: { is_final: true, status } });
  },
);

test('a function that is not an async generator is refused with the expected form', async () => {
  const parts = await partsOf((async () => 'hello') as unknown as ModuleAgentFunction);
  expect(parts).toMatchObject([{ part: 'error', message: expect.stringContaining('export default async function*') }]);
});

test('an agent that hangs while it cleans up does not keep its reader', async () => {
  const agent = moduleAgent('agent', async function* () {
    try {
      yield 'a';
      yield 'b';
    } finally {
      await new Promise(() => {});
    }
  });
  const seen: unknown[] = [];
  for await (const part of agent.answer(asking('x'), context.call())) {
    seen.push(part);
    break;
  }
  expect(seen).toHaveLength(1);
});

test('a file without a function is refused with the code to write', async () => {
  const path = fileURLToPath(new URL('fixtures/behaviours.mjs', import.meta.url));
  await expect(loadModuleAgent({ id: 'desk', path })).rejects.toThrow('export default async function*');
});

function partsOf(run: ModuleAgentFunction) {
  return context.ask(moduleAgent('agent', run), 'x');
}
