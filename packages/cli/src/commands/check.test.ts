import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Json, valueAt } from '@dragoman/protocols';
import { describe, expect, test } from 'vitest';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { DIALECT_NAMES } from '../dialect-names.ts';
import { main } from '../main.ts';

const conformance = fileURLToPath(new URL('../../../../conformance/', import.meta.url));

interface Fixture {
  readonly name: string;
  readonly input: Json;
  readonly now?: string;
  readonly options?: { readonly lenient?: boolean };
  readonly expect: { readonly issues?: readonly { readonly pointer: string; readonly code: string }[] };
}

function fixtures(dialect: string, kind: 'accept' | 'reject'): Fixture[] {
  const folder = join(conformance, dialect, kind);
  return readdirSync(folder).map((name) => ({ name, ...JSON.parse(readFileSync(join(folder, name), 'utf8')) }));
}

async function check(stdin: string, args: readonly string[] = [], now = '2026-03-28T12:00:30.000Z') {
  const surroundings = new FakeSurroundings({ stdin, now: new Date(now) });
  const code = await main(['check', '--json', ...args, '-'], surroundings);
  return { code, verdict: JSON.parse(surroundings.out) };
}

describe.each(DIALECT_NAMES)('the conformance data of %s', (dialect) => {
  const flags = ({ options }: Fixture) => ['--dialect', dialect, ...(options?.lenient === true ? ['--lenient'] : [])];

  test('a message is valid with the dialect given or detected', async () => {
    for (const fixture of fixtures(dialect, 'accept')) {
      const text = JSON.stringify(fixture.input);
      const checked = await check(text, flags(fixture), fixture.now);
      expect(checked, fixture.name).toMatchObject({ code: 0, verdict: { valid: true, issues: [] } });
      expect(await check(text, flags(fixture).slice(2), fixture.now), fixture.name).toEqual(checked);
    }
  });

  test('an invalid message is rejected for exactly the expected reasons', async () => {
    for (const fixture of fixtures(dialect, 'reject')) {
      const { code, verdict } = await check(JSON.stringify(fixture.input), flags(fixture), fixture.now);
      const found = verdict.issues.map(({ pointer, code }: { pointer: string; code: string }) => ({ pointer, code }));
      expect(found, fixture.name).toEqual(fixture.expect.issues?.map(({ pointer, code }) => ({ pointer, code })));
      expect({ code, valid: verdict.valid }, fixture.name).toEqual({ code: 1, valid: false });
    }
  });
});

describe('a workflow as JSON lines', () => {
  const call = (id: string, config: object) =>
    JSON.stringify({ type: 'operationUpdate', operationId: id, operation: { FilterData: config } });
  const filter = { inputPath: '/workflow/users', conditions: [{ field: 'a', operator: '==', value: 1 }] };
  const begin = (...order: string[]) =>
    JSON.stringify({ type: 'beginExecution', executionId: 'e', operationOrder: order });
  const bundled = (id: string, config: object) => ({ id, operation: { FilterData: config } });

  test('is recognised, read line by line, and checked as a whole', async () => {
    const text = `${call('pick', { ...filter, outputPath: '/workflow/x' })}\n\n${begin('pick')}\n`;
    const { code, verdict } = await check(text);
    expect(code).toBe(1);
    expect(verdict.issues).toEqual([
      {
        pointer: '/0/operation/FilterData/inputPath',
        code: 'path_not_produced',
        message: expect.stringContaining('/workflow/users'),
        suggestion: expect.any(String),
      },
    ]);
  });

  test('is valid when nothing is known to go wrong', async () => {
    const wait = JSON.stringify({ type: 'operationUpdate', operationId: 'w', operation: { Wait: { duration: 1 } } });
    expect(await check(`${wait}\n${begin('w')}\n`)).toEqual({
      code: 0,
      verdict: { valid: true, issues: [], warnings: [] },
    });
  });

  test('a pointer leads to what it speaks of, in either form of line', async () => {
    const wrong = { ...filter, outputPath: '/workflow/x' };
    const spec = [JSON.parse(call('a', wrong)), JSON.parse(call('b', wrong)), JSON.parse(begin('a', 'b', 'a'))];
    const bundle = [
      { operationUpdate: { workflowId: 'w', operations: [bundled('a', wrong), bundled('b', wrong)] } },
      { beginExecution: { workflowId: 'w', root: 'a' } },
    ];
    for (const lines of [spec, bundle]) {
      const { verdict } = await check(lines.map((line) => JSON.stringify(line)).join('\n'));
      const places = [...verdict.issues, ...verdict.warnings].map(({ pointer }: { pointer: string }) => pointer);
      expect(places.length).toBeGreaterThan(2);
      for (const pointer of places) expect(valueAt(lines, pointer), pointer).toBeDefined();
    }
  });

  test('in the body of a request, what would go wrong is a warning', async () => {
    const workflow = `${call('pick', { ...filter, outputPath: '/workflow/x' })}\n${begin('pick')}`;
    const { code, verdict } = await check(JSON.stringify({ workflow }));
    expect(code).toBe(0);
    expect(verdict.warnings[0]).toMatchObject({ pointer: '/workflow/0/operation/FilterData/inputPath' });
  });

  test('a line that is not JSON is named by its number', async () => {
    const { verdict } = await check(`${call('a', filter)}\n{oops}\n`);
    expect(verdict.issues.at(-1).message).toMatch(/^line 2: /);
  });
});

describe('an invalid message', () => {
  test('of a known shape is refused with the names of the dialects', async () => {
    const { code, verdict } = await check('{"zzz":1}');
    expect(code).toBe(1);
    expect(verdict.issues).toEqual([
      {
        pointer: '',
        code: 'unknown_dialect',
        message: expect.any(String),
        suggestion: expect.stringContaining('--dialect e2a|'),
      },
    ]);
  });

  test('invalid JSON is reported with line and column', async () => {
    const surroundings = new FakeSurroundings({ stdin: '{\n "a": 1,\n "a": 2\n}' });
    expect(await main(['check', '-'], surroundings)).toBe(1);
    expect(surroundings.out).toContain('not valid (unknown dialect), 1 problem:\n  line 3, column 2');
  });
});

test('the text output names the dialect, and each problem with its fix', async () => {
  const surroundings = new FakeSurroundings({ stdin: '{"from":{"name":"Me"},"messag":"hi"}' });
  expect(await main(['check', '--dialect', 'a2a-mailbox', '-'], surroundings)).toBe(1);
  expect(surroundings.out).toMatch(/^not valid \(a2a-mailbox\), \d+ problems?:\n {2}\/\w+ {2}.* \[\w+\]\n/);
});
