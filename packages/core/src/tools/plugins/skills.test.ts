import type { JsonObject } from '@dragoman/protocols';
import { describe, expect, test } from 'vitest';
import { TestClock } from '../../../test-support/test-clock.ts';
import { TestIds } from '../../../test-support/test-ids.ts';
import { ALL_PERMISSIONS } from '../../call/principal.ts';
import type { Engine } from '../../engine/engine.ts';
import { Skills } from '../skills.ts';
import type { WireCall } from '../wire/plugin.ts';
import { skillsPlugin } from './skills.ts';

test('a skill that is given longer than any timer can wait is given the longest there is, not nothing', async () => {
  const clock = new TestClock();
  const skills = {
    call: ({ ending }: Parameters<Skills['call']>[0]) =>
      new Promise((_, reject) => ending.onEnd(() => reject(ending.reason))),
  } as unknown as Skills;
  const session = { principal: { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS } };
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

describe('a skill that is called without streaming', () => {
  async function answered(frames: readonly object[]): Promise<JsonObject> {
    const handle = async function* () {
      yield* frames;
    };
    const engine = { handle, runs: { cancel: () => {} } } as unknown as Engine;
    const agents = () => [{ id: 'poet', skills: ['rhyme'] }];
    const skills = new Skills({ engine, ids: new TestIds(), agents });
    const session = { principal: { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS } };
    const call = { session, signal: new AbortController().signal } as unknown as WireCall;
    const message = { type: 'skill/call/req', id: 'x', name: 'rhyme', arguments: {}, timeout: 60, streaming: false };
    const answer = await skillsPlugin({ skills, clock: new TestClock() }).handle(message as never, call);
    return answer?.['data'] as JsonObject;
  }

  test('has its events in the result, as a tool has', async () => {
    const chunk = { response_kind: 'e2a.chunk', body: { delta_kind: 'text', delta: 'house' }, is_final: false };
    const last = { response_kind: 'e2a.complete', body: { result: 'mouse' }, is_final: true };
    const { data, events } = await answered([chunk, last]);
    expect(data).toBe('mouse');
    expect(events).toEqual([{ kind: 'status', data: { message: '', delta_kind: 'text', delta: 'house' } }]);
  });

  test('and whose agent ends without a last word has failed', async () => {
    await expect(answered([])).rejects.toMatchObject({
      code: 'skill_error',
      message: 'The agent ended without an answer.',
    });
  });

  test('has a result that is too long cut, and marks it', async () => {
    const result = 'x'.repeat(3_000_000);
    const cut = await answered([{ response_kind: 'e2a.complete', body: { result }, is_final: true }]);
    expect(cut['truncated']).toBe(true);
    expect(cut['data']).toHaveLength(1_048_576);
  });
});

// Each tag against each skill would be 20,000,000,000 comparisons, and the server would not respond for minutes.
test('skills are found by any of half a million tags and categories in no time to speak of', () => {
  const agents = Array.from({ length: 10_000 }, (_, n) => ({ id: `a${n}`, skills: [`s${n}`, `t${n}`] }));
  const skills = new Skills({ engine: {} as Engine, ids: new TestIds(), agents: () => agents });
  const ada = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS } as const;
  const names = (filter: Parameters<Skills['list']>[1]) => skills.list(ada, filter).map(({ name }) => name);
  const others = Array.from({ length: 500_000 }, (_, n) => `x${n}`);
  expect(names({ tags: [...others, 's7'] })).toEqual(['s7']);
  expect(names({ categories: [...others, 'a7'] })).toEqual(['s7', 't7']);
  expect(names({ tags: ['a7'], categories: others })).toEqual([]);
});
