import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { pluginStates } from './plugin-states.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-states-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a plugin has back what it saved, and nothing where it saved nothing', () => {
  const states = pluginStates(join(folder, 'plugins'), new SilentLog());
  expect(states.load('weather')).toBeUndefined();
  states.save('weather', { sky: 'blue' });
  expect([states.load('weather'), states.load('other')]).toEqual([{ sky: 'blue' }, undefined]);
});

test.each([
  ['half of it', '{"sky":"bl'],
  ['nothing', ''],
])('a damaged state is set aside and reported with the fix, and is not overwritten: %s', (_, text) => {
  const log = new SilentLog();
  const states = pluginStates(folder, log);
  const [path, aside] = [join(folder, 'weather.json'), join(folder, 'weather.json.damaged')];
  writeFileSync(path, text);
  expect(states.load('weather')).toBeUndefined();
  expect(existsSync(path)).toBe(false);
  states.save('weather', { sky: 'grey' });
  expect(readFileSync(aside, 'utf8')).toBe(text);
  const fix = `when it is stopped, fix ${aside} and move it to ${path}`;
  expect(log.lines).toMatchObject([{ level: 'error', fields: { plugin: 'weather', fix } }]);
  expect(states.load('weather')).toEqual({ sky: 'grey' });
});

test('an unreadable file does not count as damaged, because it may be intact', () => {
  mkdirSync(join(folder, 'weather.json'));
  expect(() => pluginStates(folder, new SilentLog()).load('weather')).toThrow(/EISDIR/);
});
