import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadModule } from './load-module.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-modules-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test('the exports of a file are returned', async () => {
  expect((await loadModule('agent shop', file('good.mjs', 'export const one = 1;\n')))['one']).toBe(1);
});

test('a missing file is reported with the member that names it', async () => {
  const path = join(folder, 'none.mjs');
  await expect(loadModule('agent shop', path)).rejects.toMatchObject({
    code: 'module_missing',
    message: `agent shop: file not found: ${path}`,
  });
});

test('so is one that cannot be loaded, with the reason', async () => {
  const misspelt = file('misspelt.mjs', 'export default async function* ( {\n');
  await expect(loadModule('agent shop', misspelt)).rejects.toMatchObject({ code: 'module_broken', path: misspelt });
  const throwing = file('throwing.mjs', "const x = 1;\nthrow new Error('boom');\n");
  await expect(loadModule('tools', throwing)).rejects.toMatchObject({
    code: 'module_broken',
    message: expect.stringMatching(/^tools: .*throwing\.mjs, line 2: boom$/),
  });
  await expect(loadModule('tools', file('lost.mjs', "import 'no-such-package';\n"))).rejects.toThrow('no-such-package');
});

test('a module that waits forever is reported as that when nothing else is left to do', async () => {
  const path = file('stuck.mjs', 'await new Promise(() => {});\n');
  const before = process.listenerCount('beforeExit');
  const [loading, other] = [loadModule('tools', path), loadModule('tools', file('ready.mjs', 'export default 1;\n'))];
  expect(process.listenerCount('beforeExit')).toBe(before + 1);
  await other;
  process.emit('beforeExit', 0);
  await expect(loading).rejects.toMatchObject({
    code: 'module_broken',
    message: `tools: ${path}: it has a top-level await that never resolves`,
  });
  expect((await loadModule('tools', file('good-again.mjs', 'export const one = 1;\n')))['one']).toBe(1);
  expect(process.listenerCount('beforeExit')).toBe(before);
});

test('a file that was changed is read again, also one that was broken', async () => {
  const path = file('edited.mjs', 'export const one = 1;\n');
  const write = (text: string, seconds: number) => {
    writeFileSync(path, text);
    utimesSync(path, seconds, seconds);
  };
  const one = async () => (await loadModule('agent shop', path))['one'];
  expect(await one()).toBe(1);
  write('export const one = 2;\n', 1000);
  expect([await one(), await one()]).toEqual([2, 2]);
  write("const x = 1;\nthrow new Error('boom');\n", 2000);
  await expect(one()).rejects.toThrow(`agent shop: ${path}, line 2: boom`);
  write('export const one = 3;\n', 3000);
  expect(await one()).toBe(3);
});
