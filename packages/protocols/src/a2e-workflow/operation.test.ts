import { describe, expect, test } from 'vitest';
import { loadFixtures } from '../../../../scripts/conformance.ts';
import * as validators from '../generated/a2e-workflow.js';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { Validator } from '../validation.ts';
import { a2eWorkflowDialect } from './dialect.ts';
import { memberIssues, usesOf } from './member.ts';
import { OPERATION_NAMES, OPERATIONS, type OperationName, operationNamed } from './operation.ts';
import { isPlainConfig } from './plain.ts';
import { validateWorkflow } from './report.ts';

/** Every operation written in the conformance data, valid or not, lines and documents alike. */
const written = [...loadFixtures('a2e-workflow', 'accept'), ...loadFixtures('a2e-workflow', 'reject')].flatMap(
  ({ name, input }) => operationsIn(input).map(([type, config]) => ({ name, type, config })),
);

describe('the catalogue', () => {
  test('has the eight operations of the spec, the eight later ones, those that call through the hub, and the one that asks a person', () => {
    expect(OPERATION_NAMES).toEqual([
      ...[
        'ApiCall',
        'FilterData',
        'TransformData',
        'Conditional',
        'Loop',
        'StoreData',
        'LoadData',
        'Wait',
        'MergeData',
      ],
      ...['GetCurrentDateTime', 'ConvertTimezone', 'DateCalculation', 'FormatText', 'ExtractText', 'ValidateData'],
      ...['Calculate', 'EncodeDecode'],
      ...['CallTool', 'CallAgent', 'RunWorkflow', 'AskApproval'],
    ]);
  });

  test.each(OPERATION_NAMES)('%s is closed, and every member it describes is one of its fields', (name) => {
    const { schema, members } = OPERATIONS[name];
    expect(schema['additionalProperties']).toBe(false);
    const fields = Object.keys(schema['properties'] as object);
    for (const { at } of members) expect(fields).toContain(at.split('/')[1]);
    // Every member named as a path must be described as one for the checker.
    const paths = fields.filter((field) => /path$/i.test(field) || field === 'sources');
    expect(members.map(({ at }) => at.split('/')[1])).toEqual(expect.arrayContaining(paths));
  });

  test.each(OPERATION_NAMES)('%s is written somewhere in the conformance data', (name) => {
    expect(written.some(({ type }) => type === name)).toBe(true);
  });

  test('names inherited by every object are unknown', () => {
    for (const name of ['toString', 'constructor', '__proto__', 'hasOwnProperty']) {
      expect(operationNamed(name)).toBeUndefined();
    }
  });
});

test.each([
  ['map', { fields: {} }, '/config/fields too_few'],
  ['sort', { fields: [] }, '/config/fields too_few'],
  ['sort', { fields: {} }, '/config/fields too_few'],
  ['select', { fields: [] }, '/config/fields too_few'],
  ['map', { fields: { a: 'x', b: 'x' } }, '/config/fields/b repeated_name'],
  ['aggregate', { operations: [{ operation: 'count' }, { operation: 'count' }] }, '/config/operations/1 repeated_name'],
  [
    'aggregate',
    {
      operations: [
        { operation: 'sum', field: 'a' },
        { operation: 'min', field: 'b', as: 'sum_a' },
      ],
    },
    '/config/operations/1 repeated_name',
  ],
])('a %s of %j would lose data, and is refused', (transform, config, expected) => {
  const issues = OPERATIONS.TransformData.inspect?.({ transform, config }) ?? [];
  expect(issues.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([expected]);
});

test('a field without a name is reported in words', () => {
  const conditions = [{ field: '', operator: 'exists' }];
  const operation = { FilterData: { inputPath: '/workflow/a', conditions, outputPath: '/workflow/b' } };
  const { errors } = validateWorkflow(JSON.stringify({ type: 'operationUpdate', operationId: 'a', operation }));
  expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('field must name a field; got ""')]);
});

test('an aggregate of a value that is not a name is reported as that, whatever its members are named', () => {
  const operation = { toString: 1, valueOf: 2 };
  for (const config of [{ operation }, { operations: [{ operation }] }]) {
    expect(OPERATIONS.TransformData.inspect?.({ transform: 'aggregate', config })).toEqual([]);
  }
});

describe('the fast path', () => {
  test('is never given where the exact reader finds something', () => {
    for (const { name, type, config } of written) {
      const description = operationNamed(type);
      if (description === undefined || !validatorOf(type)(config) || !isPlainConfig(description, config)) continue;
      expect(memberIssues(description, config), name).toEqual([]);
    }
  });

  test('is given to the plain operations of the spec', () => {
    const plain = written.filter(({ name }) => name.startsWith('spec-'));
    expect(plain.length).toBeGreaterThan(8);
    for (const { type, config } of plain) {
      const description = operationNamed(type);
      if (description !== undefined) expect(isPlainConfig(description, config)).toBe(true);
    }
  });
});

describe('the resources of an operation', () => {
  test('an ApiCall reads templates and references, and needs its credentials', () => {
    const uses = usesOf(OPERATIONS.ApiCall, {
      method: 'POST',
      url: 'https://api.example.com/{/workflow/id}',
      headers: { A: { credentialRef: { id: 'k' } }, B: { path: '/workflow/b' } },
      query: { q: '{/workflow/q}' },
      body: { c: { path: '/workflow/c' }, d: { e: { path: '/workflow/e' } }, f: ['{/workflow/f}'] },
      outputPath: '/workflow/out',
    });
    expect(uses.reads.map(({ pointer, path }) => `${pointer} ${path.keys.at(-1)}`)).toEqual([
      '/url id',
      '/headers/B/path b',
      '/query/q q',
      '/body/c/path c',
      '/body/d/e/path e',
      '/body/f/0 f',
    ]);
    expect(uses.credentials).toEqual([{ pointer: '/headers/A', id: 'k', place: 'header' }]);
    expect(uses.writes.map(({ pointer }) => pointer)).toEqual(['/outputPath']);
  });

  test('a Conditional names its targets by branch', () => {
    const config = { condition: { path: '/workflow/x', operator: 'empty' }, ifTrue: ['a'], ifFalse: ['b', 'c'] };
    const { targets, reads } = usesOf(OPERATIONS.Conditional, config);
    expect(targets.map(({ list, id }) => `${list} ${id}`)).toEqual(['ifTrue a', 'ifFalse b', 'ifFalse c']);
    expect(reads[0]?.presentIn).toBe('ifFalse');
  });

  test('LoadData reads below /store', () => {
    const { reads, writes } = usesOf(OPERATIONS.LoadData, { key: 'a/b', outputPath: '/workflow/x' });
    expect([reads, writes]).toMatchObject([
      [{ pointer: '/key', path: { root: 'store' } }],
      [{ pointer: '/outputPath' }],
    ]);
  });

  test('StoreData writes below /store', () => {
    const { writes } = usesOf(OPERATIONS.StoreData, { inputPath: '/workflow/x', storage: 'file', key: 'a/b' });
    expect(writes[0]?.path.keys).toEqual(['store', 'a', 'b']);
  });
});

function validatorOf(type: string): Validator {
  const table: Readonly<Record<OperationName, Validator>> = validators;
  return table[type as OperationName];
}

function operationsIn(input: Json): [string, JsonObject][] {
  const lines = Array.isArray(input) ? input : isObject(input) ? linesOf(input) : [];
  return lines.flatMap((line) => {
    const operation = isObject(line) ? line['operation'] : undefined;
    if (!isObject(operation)) return [];
    return Object.entries(operation).flatMap(([type, config]): [string, JsonObject][] =>
      isObject(config) ? [[type, config]] : [],
    );
  });
}

function linesOf(input: JsonObject): Json[] {
  if (typeof input['workflow'] !== 'string') return [input];
  return input['workflow'].split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as Json];
    } catch {
      return [];
    }
  });
}

describe('a name that every object inherits', () => {
  const line = (transform: string) => ({
    type: 'operationUpdate',
    operationId: 'a',
    operation: {
      TransformData: { inputPath: '/workflow/a', transform, config: {}, outputPath: '/workflow/b' },
    },
  });

  test.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__proto__'])('%s is not a transform', (name) => {
    expect(a2eWorkflowDialect.decode(line(name), new Date(0))).toMatchObject({
      ok: false,
      issues: [{ pointer: '/operation/TransformData/transform', code: 'enum' }],
    });
    expect(validateWorkflow(JSON.stringify(line(name)), { level: 'lenient' })).toMatchObject({ valid: false });
  });
});
