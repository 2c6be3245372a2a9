import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test-support/temporary-folder.ts';
import { troubleOf } from '../trouble.ts';
import { readSettings, type ServeOptions } from './settings.ts';

function folderWith(config: string): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'dragoman.yaml'), config);
  return folder;
}

function troubleWith(options: ServeOptions, folder: string, environment: Record<string, string> = {}) {
  try {
    readSettings(options, { environment, folder });
  } catch (error) {
    return troubleOf(error);
  }
  throw new Error('there was no trouble');
}

test('everything has its usual value', () => {
  const folder = temporaryFolder();
  expect(readSettings({}, { environment: {}, folder })).toEqual({
    config: { host: '127.0.0.1', port: 7420 },
    configPath: undefined,
    flags: { config: '', data: '' },
    data: join(folder, '.dragoman'),
    adminKey: undefined,
  });
});

test('a flag wins over the environment, that over the file', () => {
  const folder = folderWith('host: 10.0.0.1\nport: 1\nstore: sqlite\n');
  const environment = {
    DRAGOMAN_HOST: '10.0.0.2',
    DRAGOMAN_PORT: '2',
    DRAGOMAN_DATA: 'environment',
    DRAGOMAN_STORE: 'memory',
    DRAGOMAN_ADMIN_KEY: 'dgm_x',
  };
  expect(readSettings({}, { environment: {}, folder }).config).toMatchObject({ host: '10.0.0.1', port: 1 });
  expect(readSettings({}, { environment, folder })).toMatchObject({
    config: { host: '10.0.0.2', port: 2, store: 'memory' },
    data: join(folder, 'environment'),
    adminKey: 'dgm_x',
  });
  expect(readSettings({ host: '10.0.0.3', port: 0, data: 'flag' }, { environment, folder })).toMatchObject({
    config: { host: '10.0.0.3', port: 0 },
    data: join(folder, 'flag'),
  });
});

test('an empty variable is one that is not set', () => {
  const environment = { DRAGOMAN_PORT: '', DRAGOMAN_STORE: '', DRAGOMAN_ADMIN_KEY: '' };
  const settings = readSettings({}, { environment, folder: temporaryFolder() });
  expect(settings.config.port).toBe(7420);
  expect(settings.adminKey).toBeUndefined();
});

test('every problem of the file is reported with its line and column', () => {
  const trouble = troubleWith({}, folderWith('host: 127.0.0.1\nprot: 7420\nagents:\n  echo: { driver: modul }\n'));
  expect(trouble).toMatchObject({ code: 'bad_config', message: 'dragoman.yaml has 2 problems' });
  expect(trouble?.issues?.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^line 2, column 1: /),
    expect.stringMatching(/^line 4, column 11: /),
  ]);
  expect(trouble?.issues?.[0]?.suggestion).toContain('port');
});

test('a file that an option names must exist', () => {
  expect(troubleWith({ config: 'other.yaml' }, temporaryFolder())?.issues?.[0]?.message).toContain('file not found');
});

test.each([
  [{ DRAGOMAN_PORT: 'many' }, 'DRAGOMAN_PORT must be a whole number from 0 to 65535; got "many"'],
  [{ DRAGOMAN_PORT: '65536' }, 'DRAGOMAN_PORT must be a whole number from 0 to 65535; got "65536"'],
  [{ DRAGOMAN_STORE: 'sqlight' }, 'DRAGOMAN_STORE must be sqlite, memory or a postgres:// URL; got "sqlight"'],
])('%j is refused', (environment, message) => {
  expect(troubleWith({}, temporaryFolder(), environment)).toMatchObject({ code: 'bad_environment', message });
});
