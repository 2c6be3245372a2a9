import { expect, test } from 'vitest';
import { TestClock } from '../../../test-support/test-clock.ts';
import { ALL_PERMISSIONS } from '../../principal.ts';
import type { Skills } from '../skills.ts';
import type { WireCall } from '../wire/plugin.ts';
import { skillsPlugin } from './skills.ts';

test('a skill that is given longer than any timer can wait is given the longest there is, not nothing', async () => {
  const clock = new TestClock();
  const skills = {
    call: ({ ending }: Parameters<Skills['call']>[0]) =>
      new Promise((_, reject) => ending.onEnd(() => reject(ending.reason))),
  } as unknown as Skills;
  const session = { principal: { id: 'ada', role: 'agent', permissions: ALL_PERMISSIONS } };
  const call = { session, signal: new AbortController().signal, event: () => {} } as unknown as WireCall;
  const message = { type: 'skill/call/req', id: 'x', name: 'x', arguments: {}, timeout: 1e12, streaming: false };
  let ended: unknown;
  const answer = Promise.resolve(skillsPlugin({ skills, clock }).handle(message as never, call)).catch((error) => {
    ended = error;
  });
  clock.pass(599_999);
  await Promise.resolve();
  expect(ended).toBeUndefined();
  clock.pass(1);
  await answer;
  expect(ended).toMatchObject({ failure: { code: 'timeout' } });
});
