import { describe, expect, test } from 'vitest';
import * as validators from '../generated/a2e-workflow.js';
import { LEVELS } from './message.ts';
import type { OwnOperations } from './operation.ts';
import { validateWorkflow } from './report.ts';

const lines = (...given: object[]) => given.map((line) => JSON.stringify(line)).join('\n');
const fetch = {
  type: 'operationUpdate',
  operationId: 'fetch-users',
  operation: { ApiCall: { method: 'get', url: 'https://api.example.com/users', outputPath: '/workflow/users' } },
};
const filter = (inputPath: string) => ({
  type: 'operationUpdate',
  operationId: 'filter',
  operation: {
    FilterData: { inputPath, conditions: [{ field: 'a', operator: 'exists' }], outputPath: '/workflow/out' },
  },
});
const begin = { type: 'beginExecution', executionId: 'e', operationOrder: ['fetch-users', 'filter'] };

describe('the validation report', () => {
  test('lists tolerated and found problems, and counts both', () => {
    expect(validateWorkflow(lines(fetch, filter('/workflow/usres'), begin))).toEqual({
      valid: false,
      errors: [
        {
          severity: 'error',
          operationId: 'filter',
          pointer: '/operation/FilterData/inputPath',
          code: 'path_not_produced',
          message: 'inputPath reads /workflow/usres, which no operation writes',
          suggestion: 'did you mean /workflow/users, written by fetch-users?',
        },
      ],
      warnings: [
        {
          severity: 'warning',
          operationId: 'fetch-users',
          pointer: '/operation/ApiCall/method',
          code: 'coerced',
          message: 'line 1: method "get" is read as "GET"',
          suggestion: 'write "GET"',
        },
      ],
      summary: {
        errors: 1,
        warnings: 1,
        by_code: { coerced: 1, path_not_produced: 1 },
        by_operation: { 'fetch-users': 1, filter: 1 },
      },
    });
  });

  test('a workflow without errors is valid, whatever its warnings', () => {
    expect(validateWorkflow(lines(fetch, filter('/workflow/users'), begin))).toMatchObject({ valid: true, errors: [] });
  });

  test("a server's own operations are known where they are given", () => {
    const operation = { Shout: { inputPath: '/workflow/users', outputPath: '/workflow/out' } };
    const text = lines(fetch, { type: 'operationUpdate', operationId: 'filter', operation }, begin);
    const Shout: OwnOperations[string] = {
      summary: 'Says it loud.',
      category: 'text',
      schema: { type: 'object' },
      validate: Object.assign((_: unknown) => true, { errors: null }),
      members: [
        { at: '/inputPath', is: 'input' },
        { at: '/outputPath', is: 'output' },
      ],
    };
    expect(validateWorkflow(text, { operations: { Shout } })).toMatchObject({ valid: true, errors: [] });
    expect(validateWorkflow(text)).toMatchObject({ valid: false, errors: [{ code: 'unknown_operation' }] });
  });

  test('a text that cannot be read is reported like any other', () => {
    const report = validateWorkflow('{"type":\nnot json');
    expect(report.errors.map(({ code, offset }) => `${code} ${offset}`)).toEqual(['not_json 8', 'not_json 9']);
  });

  test('a problem of a line is reported for its operation, in either form of line', () => {
    const wrong = { Wait: { duration: 'long' } };
    const bundled = { operationUpdate: { workflowId: 'w', operations: [{ id: 'pause', operation: wrong }] } };
    const spec = { type: 'operationUpdate', operationId: 'pause', operation: wrong };
    for (const line of [bundled, spec]) {
      const { errors, summary } = validateWorkflow(lines(fetch, line));
      expect(errors).toMatchObject([{ operationId: 'pause', pointer: '/operation/Wait/duration', code: 'type' }]);
      expect(summary?.by_operation).toEqual({ pause: 1 });
    }
    const unnamed = validateWorkflow(lines({ ...spec, operationId: 'no id' }));
    expect(
      unnamed.errors.every(({ operationId, pointer }) => operationId === undefined && pointer?.startsWith('/0/')),
    ).toBe(true);
  });

  test('an id defined twice is an error at strict and a warning at the other levels', () => {
    const text = lines(fetch, fetch, filter('/workflow/users'), begin);
    const reported = LEVELS.map((level) => {
      const { errors, warnings } = validateWorkflow(text, { level });
      return [errors, warnings].map((list) => list.some(({ code }) => code === 'duplicate_operation'));
    });
    expect(reported).toEqual([
      [true, false],
      [false, true],
      [false, true],
    ]);
  });

  test('no level lets through what surely fails', () => {
    for (const level of LEVELS) {
      expect(validateWorkflow(lines(fetch, filter('/workflow/usres'), begin), { level }).valid).toBe(false);
      expect(validateWorkflow('', { level }).valid).toBe(false);
      expect(validateWorkflow('no lines at all', { level }).valid).toBe(false);
    }
  });

  test('the report has the published shape', () => {
    for (const text of ['', '{', lines(fetch, filter('/workflow/x'), begin), lines(fetch, fetch, begin)]) {
      const report = validateWorkflow(text);
      expect(validators.ValidationReport(report), JSON.stringify(validators.ValidationReport.errors)).toBe(true);
    }
  });
});

describe('the other bodies of the REST surface', () => {
  test("the spec's capabilities and rate-limit status fit their shapes", () => {
    const capabilities = {
      agent_id: 'agent-123',
      capabilities: {
        availableApis: [{ id: 'crm', base_url: 'https://api.example.com' }],
        availableCredentials: [{ id: 'api-key-123', type: 'bearer-token' }],
        supportedOperations: ['ApiCall', 'FilterData'],
        knowledgeBases: [],
        securityConstraints: { maxExecutionTime: 30000, maxOperations: 20 },
      },
    };
    expect(validators.Capabilities(capabilities)).toBe(true);
    const status = {
      agent_id: 'agent-123',
      limits: { requests_per_minute: 60, requests_per_hour: 1000 },
      usage: { requests_last_minute: 15, requests_last_hour: 200 },
      remaining: { requests_per_minute: 45, requests_per_hour: 800 },
    };
    expect(validators.RateLimitStatus(status)).toBe(true);
    expect(validators.RateLimitStatus({ ...status, usage: { requests_per_minute: 1 } })).toBe(false);
  });
});
