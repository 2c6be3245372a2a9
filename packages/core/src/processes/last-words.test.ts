import { REDACTED } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { LastWords } from './last-words.ts';

function wordsOf(text: string, env: Record<string, string> = {}): string {
  const words = new LastWords(env);
  for (const line of text.split('\n')) words.add(line);
  return String(words);
}

const NODE = `node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/srv/mcp.mjs'
    at Function._resolveFilename (node:internal/modules/cjs/loader:1225:15) {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.19.0
`;
const PYTHON = `Traceback (most recent call last):
  File "server.py", line 1, in <module>
    import nothing
ModuleNotFoundError: No module named 'nothing'
`;

test.each([
  ['Node', NODE, "Error: Cannot find module '/srv/mcp.mjs'"],
  ['Python', PYTHON, "ModuleNotFoundError: No module named 'nothing'"],
  ['a program that names no error', 'a\nb\n\nc\nusage: it FOLDER', 'b / c / usage: it FOLDER'],
  ['one without output', '', ''],
])('the output of %s shows the reason', (_, text, why) => {
  expect(wordsOf(text)).toBe(why);
});

test('the result is short, has no control characters, and no values of its environment', () => {
  expect(wordsOf('x'.repeat(5_000))).toHaveLength(500);
  expect(wordsOf('\u001b[31mError: no\u0007 way\u001b[0m')).toBe('Error: no way');
  expect(wordsOf('bad key sk-12345678 in a', { KEY: 'sk-12345678', SHORT: 'a' })).toBe(`bad key ${REDACTED} in a`);
});
