import { describe, expect, test } from 'vitest';
import { blanksIn, filled } from './workflow-blanks.ts';

describe('the blanks of a workflow', () => {
  test('are found once each, and known to stand in a text or alone', () => {
    const lines = [{ a: '{{limit}}', b: ['of {{city}}', '{{city}}'] }, { '{{name}}': '{notone} {{}} {{a b}}' }];
    expect(blanksIn(lines)).toEqual([
      { name: 'limit', isText: false },
      { name: 'city', isText: true },
    ]);
  });

  test('take an argument as it is, or as text within a text', () => {
    const line = { value: '{{limit}}', text: 'at most {{limit}} of {{list}}', '{{limit}}': 1 };
    expect(filled(line, { limit: 3, list: [1, 'b'] })).toEqual({
      value: 3,
      text: 'at most 3 of [1,"b"]',
      '{{limit}}': 1,
    });
  });

  test('that have no argument are null, even those with inherited names', () => {
    expect(filled({ a: '{{gone}}', b: '{{constructor}}', c: 'x{{gone}}' }, {})).toEqual({
      a: null,
      b: null,
      c: 'xnull',
    });
  });

  test('are escaped in a URL, which they cannot lead out of', () => {
    const line = { url: 'https://api.example.com/users/{{id}}?q={{id}}' };
    expect(filled(line, { id: 'a/../b?c' })).toEqual({
      url: 'https://api.example.com/users/a%2F..%2Fb%3Fc?q=a%2F..%2Fb%3Fc',
    });
    expect(() => filled(line, { id: '..' })).toThrow('in a URL that changes the path');
  });

  test('are filled once: an argument is not searched for blanks', () => {
    expect(filled({ a: 'x {{one}}' }, { one: '{{two}}', two: 'no' })).toEqual({ a: 'x {{two}}' });
  });
});
