import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadPlugins } from './load-plugins.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-plugins-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;

function fileWith(text: string): string {
  count += 1;
  const path = join(folder, `${count}.mjs`);
  writeFileSync(path, text);
  return path;
}

const GOOD = `export const good = { name: 'good', capability: 'c', messages: ['c/get/req'], handle: () => ({}) };`;

test('a file gives every plugin it exports, and may export what helps them', async () => {
  const path = fileWith(`${GOOD} export const other = { ...good, name: 'other' };
    export const helper = () => 1; export const table = { name: 'x' }; export const nothing = null; export default good;`);
  expect((await loadPlugins(path)).map(({ name }) => name)).toEqual(['good', 'other']);
  await expect(loadPlugins(fileWith('export const helper = () => 1;'))).rejects.toThrow('it exports no plugin');
});

test.each([
  ["{ ...good, name: 'a b' }", 'export bad: name must be 1 to 64 letters, digits, "_" or "-"; got "a b"'],
  ['{ ...good, name: undefined }', 'got undefined'],
  ['{ ...good, capability: 7 }', 'capability must be a string; got 7'],
  ["{ ...good, messages: 'c/get/req' }", 'messages must be a list of types'],
  ['{ ...good, messages: [1] }', 'messages must be a list of types'],
  ['{ ...good, messages: [] }', 'messages must be a list of types such as "weather/get/req"; got'],
  ['{ ...good, handle: undefined }', 'handle must be a function; got undefined'],
  ["{ ...good, priority: 'high' }", 'priority must be a number; got "high"'],
  ["{ ...good, exclusive: 'yes' }", 'exclusive must be true or false; got "yes"'],
  ['{ ...good, teardown: 1 }', 'teardown must be a function; got 1'],
])('an invalid one is reported, even beside a valid one: %s', async (bad, problem) => {
  await expect(loadPlugins(fileWith(`${GOOD} export const bad = ${bad};`))).rejects.toThrow(problem);
});
