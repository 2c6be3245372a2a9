import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { TestClock } from '../../test-support/test-clock.ts';
import { ALL_PERMISSIONS } from '../call/principal.ts';
import { callerTools } from './caller-tools.ts';
import { toolFrom } from './define-tool.ts';
import { FixedTools } from './fixed-tools.ts';
import { ToolRegistry } from './tool-registry.ts';

test('however many tools an agent calls, one after the other or at once, they listen for the end of its call as one', async () => {
  const registry = new ToolRegistry({ clock: new TestClock() });
  const stuck = toolFrom({ name: 'stuck', input: {}, run: () => new Promise(() => {}) });
  registry.add(new FixedTools([toolFrom({ name: 'it', input: {}, run: async () => 1 }), stuck]));
  const over = new AbortController();
  const principal = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS } as const;
  const tools = callerTools(registry, { principal, signal: over.signal, hops: 0 });
  for (let count = 0; count < 20; count++) await tools.call('it');
  const running = Promise.allSettled(Array.from({ length: 20 }, () => tools.call('stuck')));
  expect(getEventListeners(over.signal, 'abort')).toHaveLength(1);
  await tools.call('it');
  over.abort(new Error('enough'));
  expect(await running).toEqual(
    Array.from({ length: 20 }, () => ({ status: 'rejected', reason: new Error('enough') })),
  );
});
