import { expect, test } from 'vitest';
import { wholeCharacters } from './whole-characters.ts';

test.each([
  ['a first half', 'a\ud800b', 'a\ufffdb'],
  ['a second half', '\udfff', '\ufffd'],
  ['two halves that belong to others', '\udc00\ud800', '\ufffd\ufffd'],
  ['a half behind a whole character', '\u{1f600}\ud83d', '\u{1f600}\ufffd'],
  ['whole characters', '\u{1f600} \ud7ff \ue000 ü', '\u{1f600} \ud7ff \ue000 ü'],
  ['what only looks like an escape', '\\ud800 \\\\ud800', '\\ud800 \\\\ud800'],
  ['an escape and a half', '\\\ud800"\n\u0001', '\\\ufffd"\n\u0001'],
])('%s', (_, text, expected) => {
  const value = { [text]: [text] };
  expect(JSON.parse(wholeCharacters(JSON.stringify(value)))).toEqual({ [expected]: [expected] });
});
