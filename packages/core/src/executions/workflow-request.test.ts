import { describe, expect, test } from 'vitest';
import { requestText, unreadableLines, WorkflowRequestReader } from './workflow-request.ts';

const reader = new WorkflowRequestReader();
const upper =
  '{"type":"operationUpdate","operationId":"a","operation":{"FormatText":{"inputPath":"/workflow/b","template":"x","format":"upper","outputPath":"/workflow/a"}}}';
const begin = (id: string) => `{"type":"beginExecution","executionId":${JSON.stringify(id)},"operationOrder":["a"]}`;

test('an array of messages is read as the lines it stands for', () => {
  const lines = [upper, begin('e1')];
  const list = reader.read({ workflow: lines.map((line) => JSON.parse(line)), level: 'strict' });
  expect(list).toMatchObject({ ok: true, request: { text: lines.join('\n'), options: { level: 'strict' } } });
  expect(reader.read({ workflow: 7 })).toMatchObject({ ok: false, failure: { code: 'invalid_message' } });
});

describe('a workflow that is sent again under another id', () => {
  test.each([
    ['plain', upper, {}],
    ['with options', upper, { onError: 'continue', timeout_ms: 5 }],
    [
      'with all that has to be escaped',
      upper.replace('"x"', JSON.stringify('\\ " \n é \u2028 "executionId":"e0"')),
      {},
    ],
  ] as const)('%s, is recorded as it was written', (_, lines, options) => {
    for (const id of ['e1', 'e2', ' e3', 'a-longer-name_4']) {
      const workflow = `${lines}\n${begin(id).replace('" ', ' "')}`;
      const recorded = JSON.parse(requestText(parsed(workflow, options)));
      expect(recorded).toEqual({ workflow, ...options });
      expect(reader.read(recorded)).toMatchObject({ ok: true, request: { workflow: { executionId: id.trim() } } });
    }
  });

  test('is the same but for its id and its text', () => {
    const [one, other] = [parsed(`${upper}\n${begin('e1')}`), parsed(`${upper}\n${begin('e2')}`)];
    expect(other).toEqual({
      ...one,
      text: `${upper}\n${begin('e2')}`,
      workflow: { ...one.workflow, executionId: 'e2' },
    });
    expect(other.kind).toBe(one.kind);
  });

  test('is another kind with other options, and when anything else differs', () => {
    const one = parsed(`${upper}\n${begin('e1')}`);
    expect(parsed(`${upper}\n${begin('e2')}`, { onError: 'continue' }).kind).not.toBe(one.kind);
    expect(parsed(`${upper.replace('"x"', '"y"')}\n${begin('e2')}`).kind).not.toBe(one.kind);
    expect(parsed(`${upper}\n${begin('e3')}\n`).workflow.executionId).toBe('e3');
  });

  test('is not cached when its other members are long', () => {
    const workflow = `${upper}\n${begin('e1')}`;
    const read = (note: string) => reader.read({ workflow, level: 'lenient', note });
    expect(read('x')).toMatchObject({ ok: true, request: { kind: {} } });
    expect(read('x'.repeat(20_000))).toMatchObject({ ok: true });
    expect(read('x'.repeat(20_000))).not.toHaveProperty('parsed.kind');
  });

  test('is refused as before when the id is not valid', () => {
    parsed(`${upper}\n${begin('e1')}`);
    for (const id of ['', 'a b', 'é', 'x'.repeat(101), 'a/b', 'a"b']) {
      expect(reader.read({ workflow: `${upper}\n${begin(id)}` }), id).toMatchObject({ ok: false });
    }
  });

  test('takes no text for an id that only looks like one', () => {
    // The words stand inside a template.
    const tricky = upper.replace('"x"', JSON.stringify('"executionId":"inner"'));
    const lines = (id: string) => `${tricky}\n${begin(id)}`;
    for (const id of ['e1', 'e2']) expect(parsed(lines(id)).workflow.executionId).toBe(id);
  });
});

function parsed(workflow: string, options: { readonly onError?: 'continue'; readonly timeout_ms?: number } = {}) {
  const read = reader.read({ workflow, ...options });
  if (!read.ok) throw new Error(JSON.stringify(read));
  return read.request;
}

test('lines that cannot be read are refused in the name of the operation they define', () => {
  const read = reader.read({ workflow: `${upper.replace('"upper"', '"loud"')}\n${begin('e1')}` });
  if (read.ok || 'failure' in read) throw new Error('it was read');
  expect(unreadableLines(read.issues).details).toMatchObject({
    operationId: 'a',
    issues: [{ operationId: 'a', pointer: '/operation/FormatText/format', code: 'enum' }],
  });
});
