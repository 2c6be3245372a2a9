import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeWorkflow, parseWorkflow, type ReadOptions, readWorkflow } from './document.ts';

const wait = (id: string, duration = 1) => ({
  type: 'operationUpdate',
  operationId: id,
  operation: { Wait: { duration } },
});
const begin = (...order: string[]) => ({ type: 'beginExecution', executionId: 'e', operationOrder: order });
const text = (...lines: object[]) => lines.map((line) => JSON.stringify(line)).join('\n');

const SORT = { inputPath: '/workflow/x', transform: 'sort', outputPath: '/workflow/y' };
const ROWS = { inputPath: '/workflow/x', outputPath: '/workflow/y' };

describe('reading JSON lines', () => {
  test('written workflows are read back, compact and in the order of definition', () => {
    const lines = text(wait('b'), wait('a'), begin('a', 'b'));
    expect(encodeWorkflow(read(lines))).toBe(lines);
  });

  test('keys of operations keep their order', () => {
    expect([...read(text(wait('z'), wait('a'), begin('a'))).operations.keys()]).toEqual(['z', 'a']);
  });

  test('the last of two definitions counts, in the place of the first', () => {
    const workflow = read(text(wait('a', 1), wait('b'), wait('a', 2), begin('a')));
    expect([...workflow.operations.values()].map(({ id, config }) => [id, config['duration']])).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
  });

  test('a partial last line is a fault, never half an operation', () => {
    const whole = text(wait('a'), begin('a'));
    for (let end = 1; end < whole.length; end++) {
      const outcome = parseWorkflow(whole.slice(0, end));
      // Cut between lines, the rest is a document without its start.
      if (outcome.ok) expect(outcome.value.executionId).toBeNull();
    }
  });

  test('problems that follow from an unreadable line are not reported', () => {
    const outcome = parseWorkflow(`{"type":\n${text(begin('a'))}`);
    expect(outcome.ok ? [] : outcome.issues.map(({ code }) => code)).toEqual(['not_json']);
  });

  test('one message over several lines and one array of messages are read as they are meant', () => {
    for (const value of [wait('a'), [wait('a'), begin('a')]]) {
      for (const indent of [0, 2]) {
        const outcome = parseWorkflow(JSON.stringify(value, null, indent));
        expect(outcome).toMatchObject({ ok: true, value: { order: ['a'] } });
      }
    }
  });

  test('messages over several lines, one after another, are read; a fault names its own line', () => {
    const pretty = [wait('a'), begin('a')].map((line) => JSON.stringify(line, null, 2));
    for (const separator of ['\n', '\r\n', '\n\n']) {
      const written = pretty.join('\n').replaceAll('\n', separator);
      expect(parseWorkflow(written)).toMatchObject({ ok: true, value: { order: ['a'] } });
    }
    const [first = '', last = ''] = pretty;
    const number = first.split('\n').length + 2;
    const broken = parseWorkflow(`${first}\n${last.replace('"type"', 'type')}`);
    expect(broken).toMatchObject({
      ok: false,
      issues: [{ code: 'not_json', pointer: '/1', message: expect.stringMatching(new RegExp(`^line ${number}: `)) }],
    });
  });

  test('a Markdown fence around the lines is reported once, with the fix', () => {
    const outcome = parseWorkflow(`\`\`\`jsonl\n${text(wait('a'))}\n\`\`\``);
    expect(outcome).toMatchObject({ ok: false, issues: [{ code: 'markdown_fence', suggestion: 'remove the fence' }] });
  });

  test.each([
    [
      { ApiCall: { method: 'GET', endpoint: 'https://api.example.com', outputPath: '/workflow/x' } },
      'did you mean url?',
    ],
    [{ TransformData: { ...SORT, config: { field: 'n', direction: 'desc' } } }, 'did you mean order?'],
    [
      { TransformData: { ...SORT, transform: 'aggregate', config: { field: 'n', function: 'sum' } } },
      'did you mean operation?',
    ],
    [
      { FilterData: { inputPath: 'workflow/profiles', conditions: [], outputPath: '/workflow/x' } },
      'did you mean /workflow/profiles?',
    ],
    [{ GetCurrentDateTime: { outputPath: '/workflow/x', tz: 'UTC' } }, 'did you mean timezone?'],
    [{ CallTool: { tool: 'add', args: {}, outputPath: '/workflow/x' } }, 'did you mean arguments?'],
    [{ type: 'Wait', duration: 5 }, 'write {"Wait": {…}} with the other members inside'],
    [{ Conditional: { condition: { field: '/workflow/x', op: '>', value: 1 }, ifTrue: ['b'] } }, 'did you mean path?'],
    [
      { Conditional: { condition: { path: '/workflow/x', op: '>', value: 1 }, ifTrue: ['b'] } },
      'did you mean operator?',
    ],
    [{ FilterData: { ...ROWS, conditions: [{ path: 'n', operator: '>', value: 1 }] } }, 'did you mean field?'],
    [{ Loop: { items: '/workflow/x', operations: ['b'] } }, 'did you mean inputPath?'],
    [{ TransformData: { ...SORT, config: undefined, field: 'n' } }, 'move it into config'],
    [
      { ApiCall: { method: 'GET', url: 'https://x.example', auth: 'k' } },
      'put {"credentialRef": {"id": "…"}} in a header, a query value or a member of the body',
    ],
    [
      { StoreData: { inputPath: '/workflow/x', storage: 'file', key: 'k', outputPath: '/workflow/y' } },
      'remove it: stored data is read at /store/<key>',
    ],
    [{ Wait: { seconds: 5 } }, 'did you mean duration, in milliseconds?'],
    [
      { DateCalculation: { ...ROWS, operation: 'add', amount: 3, unit: 'days' } },
      'write the unit as a field, such as "days": 3',
    ],
    [{ ForEach: { inputPath: '/workflow/x', operations: ['b'] } }, 'did you mean Loop?'],
    [{ http_request: { url: 'https://x.example' } }, 'did you mean ApiCall?'],
    [{ Conditional: { input: '/workflow/x', ifTrue: ['b'] } }, 'remove input'],
    [{ Wait: { duration: 5, colour: 'red' } }, 'remove colour'],
  ])('the suggestion for %j makes it better: %s', (operation, suggestion) => {
    const line = { type: 'operationUpdate', operationId: 'a', operation };
    const outcome = parseWorkflow(JSON.stringify(line));
    expect(outcome.ok ? [] : outcome.issues.map((issue) => issue.suggestion)).toContain(suggestion);
  });

  test('U+2028 is not a line break, and a byte order mark is skipped', () => {
    const line = text(wait('a'));
    expect(parseWorkflow(`\uFEFF${line}`).ok).toBe(false);
    expect(parseWorkflow(`${line}\u2028${line}`).ok).toBe(false);
  });

  test('bundled operations keep to the longest order there may be', () => {
    const operations = Array.from({ length: 101 }, (_, at) => ({ id: `w${at}`, operation: { Wait: { duration: 1 } } }));
    const lines = [{ operationUpdate: { operations } }, { beginExecution: { workflowId: 'w', root: 'w0' } }];
    expect(readWorkflow(lines)).toMatchObject({
      ok: false,
      issues: [{ pointer: '/1/beginExecution/root', code: 'too_many' }],
    });
  });

  test('where everything is a target, everything is in the implied order', () => {
    const choose = (id: string, target: string) => ({
      type: 'operationUpdate',
      operationId: id,
      operation: { Conditional: { condition: { path: '/workflow/x', operator: 'exists' }, ifTrue: [target] } },
    });
    expect(read(text(choose('a', 'b'), choose('b', 'a'))).order).toEqual(['a', 'b']);
  });

  test('any text gives an outcome, strictly and leniently', () => {
    const line = fc.oneof(
      fc.constantFrom(
        JSON.stringify(wait('a')),
        JSON.stringify(wait('b')),
        JSON.stringify(begin('a')),
        '',
        '{}',
        '[]',
        '{',
      ),
      fc.json({ maxDepth: 2 }),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 5 }), fc.boolean(), (lines, lenient) => {
        const outcome = parseWorkflow(lines.join('\n'), { lenient });
        if (outcome.ok) expect(read(encodeWorkflow(outcome.value), { lenient })).toEqual(outcome.value);
        else expect(outcome.issues.length).toBeGreaterThan(0);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a document that is all wrong', () => {
  test('is read up to its hundredth problem', () => {
    const outcome = parseWorkflow('}\n'.repeat(100_000));
    if (outcome.ok) expect.unreachable();
    expect(outcome.issues).toHaveLength(101);
    expect(outcome.issues.at(-1)?.code).toBe('more_problems');
  });

  test('warnings are bounded too', () => {
    const lines = Array.from({ length: 1000 }, () => wait('a'));
    expect(parseWorkflow(text(...lines, begin('a')))).toMatchObject({ ok: true, warnings: { length: 101 } });
  });

  test('a repeated bundled beginning has its order computed once', () => {
    const operations = Array.from({ length: 5000 }, (_, index) => ({
      id: `w${index}`,
      operation: { Wait: { duration: 1 } },
    }));
    const again = Array.from({ length: 8000 }, () => ({ beginExecution: { workflowId: 'w', root: 'w1' } }));
    const outcome = parseWorkflow(text({ operationUpdate: { workflowId: 'w', operations } }, ...again));
    if (outcome.ok) expect.unreachable();
    expect(outcome.issues.slice(0, 2).map(({ code }) => code)).toEqual(['too_many', 'after_begin']);
  });

  test('aliases in a list of any length are put in at once', () => {
    const conditions = Array.from({ length: 20_000 }, () => ({ field: 'f', operator: 'isEmpty' }));
    const filter = { FilterData: { inputPath: '/workflow/a', conditions, outputPath: '/workflow/b' } };
    const outcome = parseWorkflow(text({ type: 'operationUpdate', operationId: 'f', operation: filter }));
    expect(outcome).toMatchObject({ ok: false, issues: [{ code: 'too_many' }] });
  });

  test('a megabyte of templates that never close is a hundred problems', () => {
    const call = { method: 'POST', url: 'https://api.example/', body: '{/'.repeat(524_288), outputPath: '/workflow/a' };
    const line = { type: 'operationUpdate', operationId: 'a', operation: { ApiCall: call } };
    expect(parseWorkflow(text(line))).toMatchObject({ ok: false, issues: { length: 101 } });
  });
});

function read(lines: string, options: ReadOptions = {}) {
  const outcome = parseWorkflow(lines, options);
  if (!outcome.ok) expect.unreachable(JSON.stringify(outcome.issues));
  return outcome.value;
}
