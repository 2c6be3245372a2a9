import { expect, test } from 'vitest';
import { isListed } from './resource-list.ts';

const LIST = ['file:///docs/*', 'demo://one'];

test('a URI is listed by itself or by how it begins; without a list everything is', () => {
  expect(isListed('file:///docs/a/b.md', LIST)).toBe(true);
  expect(isListed('file:///docs/..a/b...md', LIST)).toBe(true);
  expect(isListed('file:///docs/of mine.md', LIST)).toBe(true);
  expect(isListed('demo://one', LIST)).toBe(true);
  expect(isListed('demo://one/more', LIST)).toBe(false);
  expect(isListed('file:///etc/passwd', undefined)).toBe(true);
});

test.each([
  'file:///docs/../etc/passwd',
  'file:///docs/a/..',
  'file:///docs/%2e%2e/etc/passwd',
  'file:///docs/.%2E%2fetc/passwd',
  'file:///docs/a\\..\\..\\etc',
  'file:///docs/./x?y',
  'file:///docs/.\t./etc/passwd',
  'file:///docs/\n../etc/passwd',
  'file:///docs/.\r%2e/etc/passwd',
  'file:///docs/.. ',
  'file:///docs/..\u0000',
])('a URI that walks back is not let in by its beginning: %j', (uri) => {
  expect(isListed(uri, LIST)).toBe(false);
});
