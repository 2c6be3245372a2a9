import { expect, test } from 'vitest';
import { decodeFileRef, newFileRef } from './file-ref.ts';

test('an attachment needs a uri and nothing else', () => {
  const whole = { uri: 'file:///a.csv', name: null, mime_type: null, size: null, _meta: {} };
  expect(newFileRef({ uri: 'file:///a.csv' })).toEqual(whole);
  expect(decodeFileRef({ uri: 'file:///a.csv' })).toEqual({ ok: true, value: whole, warnings: [] });
});

test('all members are kept, including unknown ones', () => {
  const given = { uri: 'https://x.example/a', name: 'a', mime_type: 'text/csv', size: 3, _meta: { k: 1 }, etag: 'e' };
  expect(decodeFileRef(given)).toMatchObject({ ok: true, value: given });
});

test('a missing or empty uri and a wrong size are named', () => {
  const outcome = decodeFileRef({ uri: '', size: -1 });
  expect(!outcome.ok && outcome.issues.map(({ pointer, code }) => [pointer, code])).toEqual([
    ['/uri', 'too_short'],
    ['/size', 'too_small'],
  ]);
  expect(decodeFileRef({ name: 'a' })).toMatchObject({ ok: false, issues: [{ pointer: '/uri', code: 'required' }] });
});
