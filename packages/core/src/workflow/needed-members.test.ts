import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { planOf } from '../../test-support/workflow-plan.ts';
import { loadOperations } from './load-operations.ts';

const fetch = { ApiCall: { method: 'GET', url: 'https://api.example.com/users', outputPath: '/workflow/users' } };
const filter = {
  FilterData: {
    inputPath: '/workflow/users',
    conditions: [{ field: 'status', operator: '==', value: 'active' }],
    outputPath: '/workflow/active',
  },
};
const transform = (transform: string, config: object, inputPath = '/workflow/active') => ({
  TransformData: { inputPath, transform, config, outputPath: `/workflow/${transform}` },
});
const sort = transform('sort', { field: 'points' });

function needed(operations: Readonly<Record<string, object>>, context = {}) {
  const { partialRows } = planOf({ fetch, ...operations }, context);
  return partialRows.get('fetch')?.names;
}

describe('of what is fetched are needed', () => {
  test('the members that a filter and a sort read, and none for the results', () => {
    expect(needed({})).toEqual([]);
    expect(needed({ filter })).toEqual(['status']);
    expect(needed({ filter, sort })).toEqual(['points', 'status']);
    expect(needed({ filter, sort: transform('sort', { fields: { points: 'desc', id: 'asc' } }) })).toEqual([
      'id',
      'points',
      'status',
    ]);
  });

  test('those that are counted, mapped or selected; what comes out is nobody else’s affair', () => {
    const total = transform('aggregate', { operation: 'sum', field: 'points' });
    const rest = {
      FormatText: {
        inputPath: '/workflow/aggregate/result',
        template: 'x',
        format: 'template',
        outputPath: '/workflow/t',
      },
    };
    expect(needed({ filter, total, rest })).toEqual(['points', 'status']);
    const names = transform('select', { fields: ['name'] });
    const stored = { StoreData: { inputPath: '/workflow/select', storage: 'localStorage', key: 'names' } };
    expect(needed({ filter, names, stored })).toEqual(['name', 'status']);
    expect(needed({ filter, renamed: transform('map', { fields: { name: 'full_name' } }) })).toEqual([
      'name',
      'status',
    ]);
  });

  test('those of everything that reads them, also where it is written to the same place', () => {
    const again = { FilterData: { ...filter.FilterData, outputPath: '/workflow/users' } };
    expect(needed({ again, sort: transform('sort', { field: 'id' }, '/workflow/users') })).toEqual(['id', 'status']);
  });
});

describe('all of it is needed', () => {
  test.each<[string, Record<string, object>]>([
    [
      'where something else reads it',
      { filter, store: { StoreData: { inputPath: '/workflow/users', storage: 'localStorage', key: 'k' } } },
    ],
    [
      'where something else reads what was filtered',
      { filter, store: { StoreData: { inputPath: '/workflow/active', storage: 'localStorage', key: 'k' } } },
    ],
    [
      'where a part of it is read',
      {
        filter,
        one: { FormatText: { inputPath: '/workflow/users/0/name', format: 'upper', outputPath: '/workflow/t' } },
      },
    ],
    [
      'where a part of it is sent',
      {
        filter,
        post: {
          ApiCall: {
            method: 'GET',
            url: 'https://api.example.com/{/workflow/users/0/id}',
            outputPath: '/workflow/p',
          },
        },
      },
    ],
    [
      'where a part of it is replaced',
      { filter, time: { GetCurrentDateTime: { format: 'iso8601', outputPath: '/workflow/users/0/name' } } },
    ],
    [
      'where a condition has it on its right',
      {
        filter: {
          FilterData: {
            ...filter.FilterData,
            conditions: [{ field: 'a', operator: 'in', value: { path: '/workflow/users' } }],
          },
        },
      },
    ],
    [
      'where a field lies deeper',
      { filter: { FilterData: { ...filter.FilterData, conditions: [{ field: 'a.b', operator: '==', value: 1 }] } } },
    ],
    [
      'where a field is one that everything has',
      {
        filter: {
          FilterData: { ...filter.FilterData, conditions: [{ field: 'toString', operator: '==', value: 1 }] },
        },
      },
    ],
    ['where it is grouped', { filter, group: transform('group', { field: 'a' }) }],
    ['where one value is taken', { filter, group: transform('select', { field: 'a' }) }],
  ])('%s', (_, operations) => {
    expect(needed(operations)).toBeUndefined();
  });

  test('where there is a loop, whose result is what those in it gave', () => {
    const ids = { ApiCall: { method: 'GET', url: 'https://api.example.com/ids', outputPath: '/workflow/ids' } };
    const each = { Loop: { inputPath: '/workflow/ids', operations: ['filter'], outputPath: '/workflow/all' } };
    expect(needed({ ids, filter })).toEqual(['status']);
    expect(needed({ ids, each, filter }, { order: ['fetch', 'ids', 'each'] })).toBeUndefined();
  });

  test('where something around it is read', () => {
    const inside = { ApiCall: { ...fetch.ApiCall, outputPath: '/workflow/api/users' } };
    const counted = transform('aggregate', { operation: 'count' }, '/workflow/api/users');
    expect(planOf({ inside, counted }).partialRows.get('inside')?.names).toEqual([]);
    const around = { StoreData: { inputPath: '/workflow/api', storage: 'localStorage', key: 'k' } };
    expect(planOf({ inside, counted, around }).partialRows.size).toBe(0);
  });

  test('where an operation of the operator’s own runs, which may read what it does not say', async () => {
    const { catalog } = await loadOperations([
      fileURLToPath(new URL('./fixtures/own-operations.mjs', import.meta.url)),
    ]);
    expect(needed({ filter }, { catalog })).toEqual(['status']);
    const time = { GetCurrentDateTime: { format: 'timestamp', outputPath: '/workflow/time' } };
    expect(needed({ filter, time }, { catalog })).toEqual(['status']);
    const own = { Double: { inputPath: '/workflow/time', outputPath: '/workflow/twice' } };
    expect(needed({ filter, time, own }, { catalog })).toBeUndefined();
  });
});
