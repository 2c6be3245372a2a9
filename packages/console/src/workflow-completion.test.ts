import { describe, expect, test } from 'vitest';
import { offeredAt } from './workflow-completion.ts';

const usable = {
  operations: ['ApiCall', 'StoreData', 'FilterData', 'Conditional'],
  credentials: ['crm-key'],
  origins: ['https://crm.example'],
};
const OTHERS = [
  '{"type":"operationUpdate","operationId":"get","operation":{"ApiCall":{"method":"GET","url":"https://crm.example/u","outputPath":"/workflow/users"}}}',
  '{"type":"operationUpdate","operationId":"keep","operation":{"StoreData":{"inputPath":"/workflow/users","storage":"localStorage","key":"kept"}}}',
].join('\n');

/** The completions at `|`. */
function at(marked: string): readonly string[] | undefined {
  const column = marked.indexOf('|');
  const line = marked.replace('|', '');
  return offeredAt(line, column, `${OTHERS}\n${line}`, usable)?.offers.map(({ label }) => label);
}

/** The line after the offer of this label was taken at `|`. */
function after(marked: string, label: string): string {
  const column = marked.indexOf('|');
  const line = marked.replace('|', '');
  const offered = offeredAt(line, column, line, usable);
  const offer = offered?.offers.find((one) => one.label === label);
  if (offered === undefined || offer === undefined) throw new Error(`${label} is not offered`);
  return line.slice(0, offered.from) + offer.text + line.slice(offered.to);
}

describe('the completions in a workflow line', () => {
  test.each([
    ['{|', ['type', 'operationId', 'operation', 'executionId', 'operationOrder']],
    ['{"type":"operationUpdate","|', ['operationId', 'operation', 'executionId', 'operationOrder']],
    ['{"type":|', ['operationUpdate', 'beginExecution']],
    ['{"operation":{"|', usable.operations],
    ['{"operation":{"StoreData":{"|', ['inputPath', 'storage', 'key']],
    ['{"operation":{"StoreData":{"key":"a","|', ['inputPath', 'storage']],
    ['{"operation":{"StoreData":{"storage":"|', ['localStorage', 'sessionStorage', 'file']],
    ['{"operation":{"StoreData":{"inputPath":"|', ['/workflow/users']],
    ['{"operation":{"FilterData":{"conditions":[{"field":"a"},{"|', ['field', 'operator', 'value']],
    ['{"operation":{"ApiCall":{"url":"|', ['https://crm.example']],
    ['{"operation":{"ApiCall":{"headers":{"Authorization":{"credentialRef":{"id":"|', ['crm-key']],
    ['{"operation":{"Conditional":{"ifTrue":["get","|', ['get', 'keep']],
    ['{"operationOrder":["get","|', ['get', 'keep']],
  ])('%s', (marked, labels) => {
    expect(at(marked)).toEqual(labels);
  });

  test.each([
    '|',
    '{"type"|',
    '{"type":"operationUpdate"|',
    '{"type":"operationUpdate"}|',
    '{"operation":{"Nothing":{"|',
  ])('nothing at %s', (marked) => expect(at(marked)).toBeUndefined());

  test('the values of an enumeration, at any depth', () => {
    expect(at('{"operation":{"FilterData":{"conditions":[{"operator":"|')).toContain('startsWith');
  });
});

test('a completion replaces the partial word, and doubles no quote and no colon', () => {
  expect(after('{"ty|', 'type')).toBe('{"type":');
  expect(after('{"ty|":"x"}', 'type')).toBe('{"type":"x"}');
  expect(after('{"type":"op|"}', 'operationUpdate')).toBe('{"type":"operationUpdate"}');
  expect(after('{"type":|}', 'beginExecution')).toBe('{"type":"beginExecution"}');
});
