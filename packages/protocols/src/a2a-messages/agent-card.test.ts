import { expect, test } from 'vitest';
import { capabilityWarnings, HIGH_RISK_CAPABILITIES, STANDARD_CAPABILITIES } from './agent-card.ts';

test('the standard vocabulary is 41 different names, all as they should be', () => {
  expect(new Set(STANDARD_CAPABILITIES).size).toBe(STANDARD_CAPABILITIES.length);
  expect(STANDARD_CAPABILITIES).toHaveLength(41);
  expect(capabilityWarnings([...STANDARD_CAPABILITIES, ...HIGH_RISK_CAPABILITIES], '')).toEqual([]);
});

test('a name of one’s own is fine in snake_case', () => {
  expect(capabilityWarnings(['crypto_price_query', 'ocr2_scan', 'x'], '/capabilities')).toEqual([]);
});

test('another spelling is advised against, with the standard name it resembles', () => {
  expect(capabilityWarnings(['ok_name', 'dataQuery', 'Weather Report', '_x', ''], '/capabilities')).toEqual([
    {
      pointer: '/capabilities/1',
      code: 'capability_name',
      message: 'capabilities[1] should be snake_case, such as data_query; got "dataQuery"',
      suggestion: 'did you mean "data_query"?',
    },
    expect.objectContaining({ pointer: '/capabilities/2' }),
    expect.objectContaining({ pointer: '/capabilities/3' }),
    expect.objectContaining({ pointer: '/capabilities/4' }),
  ]);
});
