import { expect, test } from 'vitest';
import type { LongText } from '../text/long-text.ts';
import { redactedJson } from './redacted-json.ts';
import { SecretRedactor } from './secret-redactor.ts';

const SECRET = 'sk-"4\\2/é-12345678';
const redactor = new SecretRedactor([SECRET, '31415926']);
const value = {
  [SECRET]: [`a ${SECRET} b`, { deep: JSON.stringify({ SECRET }) }],
  number: 31415926,
  other: 27182818,
  quote: '"\\',
};
const clean = {
  '[redacted]': ['a [redacted] b', { deep: '{"SECRET":"[redacted]"}' }],
  number: '[redacted]',
  other: 27182818,
  quote: '"\\',
};

test('secrets in strings, names and numbers are replaced, and the text is JSON still', async () => {
  expect(JSON.parse(await redactedJson(JSON.stringify(value), redactor))).toEqual(clean);
});

test('so they are in a long text, wherever its parts are cut', async () => {
  const around = 'x'.repeat(70_000);
  const bytes = Buffer.from(JSON.stringify({ around, value, again: around }));
  const long: LongText = { parts: [bytes.subarray(0, 70_050), bytes.subarray(70_050)] };
  const redacted = await redactedJson(long, redactor);
  expect(JSON.parse(String(redacted))).toEqual({ around, value: clean, again: around });
});

test('a text without secrets stays what it is', async () => {
  const long: LongText = { parts: [Buffer.from(JSON.stringify({ text: 'x'.repeat(200_000) }))] };
  expect(await redactedJson(long, redactor)).toBe(long);
  expect(await redactedJson('{"a": 1}', redactor)).toBe('{"a": 1}');
});

test('a secret split across two strings is not redacted', async () => {
  const across = new SecretRedactor(['ends","begins']);
  expect(await redactedJson('["ends","begins"]', across)).toBe('["ends","begins"]');
});
