import { describe, expect, test } from 'vitest';
import { answered, RecordedEffects } from '../../test-support/recorded-effects.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { planOf } from '../../test-support/workflow-plan.ts';
import { type RunOptions, runPlan } from './run.ts';

const USERS = [
  { id: 1, name: 'Ada', status: 'active', points: 120 },
  { id: 2, name: 'Bob', status: 'gone', points: 300 },
  { id: 3, name: 'Cyd', status: 'active', points: 90 },
];
const fetchUsers = { ApiCall: { method: 'GET', url: 'https://api.example.com/users', outputPath: '/workflow/users' } };

describe('running a plan', () => {
  test('fetches, filters and sorts', async () => {
    const effects = new RecordedEffects(() => answered(USERS));
    const result = await run(
      {
        fetch: fetchUsers,
        active: {
          FilterData: {
            inputPath: '/workflow/users',
            conditions: [{ field: 'status', operator: '==', value: 'active' }],
            outputPath: '/workflow/active',
          },
        },
        sorted: {
          TransformData: {
            inputPath: '/workflow/active',
            transform: 'sort',
            config: { field: 'points' },
            outputPath: '/workflow/sorted',
          },
        },
      },
      { effects },
    );
    expect(result.status).toBe('success');
    expect(result.results.get('sorted')).toEqual([USERS[2], USERS[0]]);
    expect(effects.calls).toMatchObject([{ key: 'fetch', request: { url: 'https://api.example.com/users' } }]);
  });
});

function run(operations: Readonly<Record<string, object>>, options: Partial<RunOptions> & { order?: string[] } = {}) {
  const { order, ...rest } = options;
  const plan = planOf(operations, order === undefined ? {} : { order });
  return runPlan(plan, { effects: new RecordedEffects(), clock: new TestClock(), timeoutMs: 30_000, ...rest });
}
