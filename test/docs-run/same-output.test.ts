import { expect, test } from 'vitest';
import { differenceInJson, differenceInText } from './same-output.ts';

test.each([
  ['a\nb\n', 'a\nb\n'],
  ['at …:7420 (…)\n', 'at 127.0.0.1:7420 (12 ms)\n'],
  ['first\n…\nlast\n', 'first\n1\n2\nlast\n'],
  ['first\n…\nlast\n', 'first\nlast\n'],
])('%j is what %j shows', (shown, printed) => {
  expect(differenceInText(shown, printed)).toBeUndefined();
});

test.each([
  ['a\n', 'a\nb\n'],
  ['a\nb\n', 'a\n'],
  ['a.c\n', 'abc\n'],
  ['x … z\n', 'x y\n'],
])('%j is not what %j shows', (shown, printed) => {
  expect(differenceInText(shown, printed)).toContain('but it printed');
});

test.each([
  ['{"a":1,"b":[true,null]}', '{ "b": [true, null], "a": 1 }'],
  ['{"id":"msg_…","…":"…"}', '{"id":"msg_12","more":1}'],
  ['{"any":"…"}', '{"any":{"deep":[]}}'],
])('%s is shown for %s', (shown, printed) => {
  expect(differenceInJson(shown, printed)).toBeUndefined();
});

test.each([
  ['{"a":1}', '{"a":1,"b":2}', '/b'],
  ['{"a":1,"b":"…"}', '{"a":1}', '/b'],
  ['{"a":[1]}', '{"a":[1,2]}', '/a (2 items)'],
  ['{"a":{"b":1}}', '{"a":{"b":2}}', '/a/b'],
])('%s is not shown for %s', (shown, printed, place) => {
  expect(differenceInJson(shown, printed)).toContain(`it differs at ${place}`);
});
