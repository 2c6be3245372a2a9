import { expect, test } from 'vitest';
import { nameIssues } from './given-name.ts';

test.each(['a', 'crm', '7up', 'billing.v2_eu-1', 'x'.repeat(100)])('%s can be a name', (id) => {
  expect(nameIssues('an API', id)).toEqual([]);
});

test.each(['', '-crm', '.', 'a b', 'a/b', 'é', 'x'.repeat(101)])('%j cannot, and is refused with the reason', (id) => {
  const [issue] = nameIssues('an API', id);
  expect(issue).toMatchObject({ pointer: '', code: 'id', suggestion: 'choose another id' });
  expect(issue?.message).toMatch(/^the id of an API must be .*, a letter or digit first; got "/);
});
