import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test-support/temporary-folder.ts';
import { writeDevKeys } from '../dev-keys.ts';
import type { ServeSettings } from './settings.ts';
import { startTrouble } from './start-trouble.ts';

function settings(config: Partial<ServeSettings['config']> = {}): ServeSettings {
  return {
    config: { host: '127.0.0.1', port: 7420, ...config },
    configPath: '/etc/dragoman.yaml',
    flags: { config: '', data: '' },
    data: '/data',
    adminKey: undefined,
    vaultKey: undefined,
  };
}

const failed = (code: string, message = code) => Object.assign(new Error(message), { code });

test('a taken port: who holds it, and the command that fixes it', async () => {
  const holder = createServer((socket) => socket.end('this is no web server\r\n'));
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = holder.address() as AddressInfo;
    const trouble = await startTrouble(failed('EADDRINUSE'), { settings: settings({ port }), command: 'serve' });
    expect(trouble.code).toBe('port_taken');
    expect(trouble.message).toContain(`port ${port} on 127.0.0.1 is taken by another program`);
    if (process.platform === 'linux') expect(trouble.message).toContain(`process ${process.pid}`);
    expect(trouble.fixes?.[0]).toBe('use any free port: npx dragoman serve --port 0');
  } finally {
    holder.close();
  }
});

test('another port of the configuration that is taken is reported by its own name', async () => {
  const error = Object.assign(failed('EADDRINUSE'), { port: 7421 });
  const trouble = await startTrouble(error, { settings: settings({ wire: { port: 7421 } }), command: 'serve' });
  expect(trouble.message).toMatch(/^wire\.port: port 7421 on 127\.0\.0\.1 is taken by /);
  expect(trouble.fixes).toEqual(['set wire.port in /etc/dragoman.yaml to another port, or to 0 for any free port']);
});

test('so is a unix socket', async () => {
  const path = join(temporaryFolder(), 'wire.sock');
  const [holder, second] = [createServer().listen(path), createServer()];
  try {
    await once(holder, 'listening');
    const [error] = await once(second.listen(path), 'error');
    const trouble = await startTrouble(error, { settings: settings(), command: 'serve' });
    expect(trouble.message).toBe(`the socket ${path} is taken by another server`);
    expect(trouble.fixes?.[0]).toContain('wire.socket in /etc/dragoman.yaml');
  } finally {
    holder.close();
  }
});

test('a folder in which this user may not create a socket is reported, and not as a port', async () => {
  const error = Object.assign(failed('EACCES'), { address: '/run/wire.sock', port: -1 });
  expect(await startTrouble(error, { settings: settings(), command: 'serve' })).toEqual({
    code: 'socket_path',
    message: 'this user may not create the socket /run/wire.sock',
    fixes: ['correct wire.socket in /etc/dragoman.yaml'],
  });
});

test('an impossible socket path is reported with the member that names it', async () => {
  const error = failed('socket_path', '/data/notes exists and is not a socket');
  expect(await startTrouble(error, { settings: settings(), command: 'serve' })).toEqual({
    code: 'socket_path',
    message: '/data/notes exists and is not a socket',
    fixes: ['correct wire.socket in /etc/dragoman.yaml'],
  });
});

test('a data folder that is in use: by which process, where it listens, and the ways out', async () => {
  // Its own process: in this one, other tests may have left a server.
  const other = spawn(process.execPath, ['-e', OTHER_SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const { pid } = other;
  const data = temporaryFolder();
  const url = `http://127.0.0.1:${String((await once(other.stdout, 'data'))[0]).trim()}`;
  const owner = (host: string) => writeFileSync(join(data, 'dragoman.owner'), JSON.stringify({ pid, host }));
  const troubleOf = (command: 'serve' | 'dev' | 'wire' | 'tools accept') =>
    startTrouble(failed('store_locked'), { settings: { ...settings(), data }, command });
  try {
    owner(hostname());
    if (process.platform === 'linux')
      expect((await troubleOf('serve')).message).toContain(`in use by a running server: ${url}, `);
    writeDevKeys(data, { url, key: 'k', admin_key: 'a' });
    const { message, fixes } = await troubleOf('dev');
    expect(message).toContain(`the data folder ${data} is in use by a running server: ${url}, process ${pid}, since 2`);
    expect(fixes).toEqual([
      `use that server: npx dragoman tour --data ${data}`,
      `stop it: kill ${pid}`,
      'start another server with its own data folder: npx dragoman dev --data OTHER_FOLDER --port 0',
    ]);
    expect((await troubleOf('wire')).fixes?.at(-1)).toBe(
      'start another server with its own data folder: npx dragoman wire --data OTHER_FOLDER',
    );
    expect((await troubleOf('tools accept')).fixes).toEqual([
      `use that server: npx dragoman tools accept NAME --url ${url}`,
      `stop it: kill ${pid}`,
    ]);
    owner('another-machine');
    expect((await troubleOf('serve')).fixes?.[0]).toBe(`stop it: kill ${pid} on another-machine`);
  } finally {
    other.kill();
    await once(other, 'exit');
  }
});

const OTHER_SERVER = `
  const answer = '{"status":"healthy","service":"a2e-server"}';
  const server = require('node:http').createServer((_, response) => response.end(answer));
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

test.each([
  ['EACCES', 'this user may not listen on port 7420 of 127.0.0.1', 'npx dragoman dev --port 7420'],
  ['EADDRNOTAVAIL', 'this machine has no address 127.0.0.1', 'npx dragoman dev --host 127.0.0.1'],
  ['store_locked', 'store_locked', 'npx dragoman dev --data OTHER_FOLDER --port 0'],
  ['store_damaged', 'store_damaged', 'npx dragoman doctor --data /data'],
  ['E_ANYTHING', 'E_ANYTHING', 'npx dragoman doctor'],
])('%s is reported with its fix', async (code, message, fix) => {
  const trouble = await startTrouble(failed(code), { settings: settings(), command: 'dev' });
  expect(trouble.message).toBe(message);
  expect(trouble.fixes?.join('\n')).toContain(fix);
});

test('a suggested command names the same configuration and folder', async () => {
  const flags = { config: " --config 'my own.yaml'", data: ' --data there' };
  const fixesOf = async (code: string) =>
    (await startTrouble(failed(code), { settings: { ...settings(), flags }, command: 'serve' })).fixes?.join('\n');
  expect(await fixesOf('E_ANYTHING')).toBe("run the checks: npx dragoman doctor --config 'my own.yaml' --data there");
  expect(await fixesOf('store_damaged')).toContain("doctor --config 'my own.yaml' --data /data");
  expect(await fixesOf('EACCES')).toContain("npx dragoman serve --config 'my own.yaml' --data there --port 7420");
  expect(await fixesOf('store_locked')).toContain("serve --config 'my own.yaml' --data OTHER_FOLDER --port 0");
});

test('an error in a file of the operator is reported unchanged, with its fix', async () => {
  const missing = failed('module_missing', 'agent echo: file not found: /agents/echo.mjs');
  expect(await startTrouble(missing, { settings: settings(), command: 'serve' })).toEqual({
    code: 'module_missing',
    message: 'agent echo: file not found: /agents/echo.mjs',
    fixes: ['create it, or correct its path in /etc/dragoman.yaml'],
  });
  const lost = await startTrouble(failed('ERR_MODULE_NOT_FOUND'), { settings: settings(), command: 'serve' });
  expect(lost.fixes).toEqual(['npm ci']);
});

test.each([
  ['that cannot be read', 'export const = 1;', (path: string) => [`see where: node --check ${path}`]],
  ['that throws', "throw new Error('no');", (path: string) => [`see where: node ${path}`]],
  ['that reads no JSON', "JSON.parse('{');", (path: string) => [`see where: node ${path}`]],
  [
    'without a package',
    "import 'no-such-package-anywhere';",
    () => ['install it, in the folder of the file: npm install no-such-package-anywhere'],
  ],
  [
    'without a package of ours',
    "import '@dragoman/core';",
    () => [
      'move the file into the Dragoman clone: the packages are not published',
      'or link the missing package, in the folder of the file: npm link CLONE/packages/core',
    ],
  ],
])('a file %s is reported with its place or fix', async (_, text, fixes) => {
  const path = join(temporaryFolder(), 'tools.mjs');
  writeFileSync(path, text);
  // By Node itself, as for the operator.
  const load = 'import(process.argv[1]).catch(({ code, message }) => console.log(JSON.stringify({ code, message })))';
  const cause = JSON.parse(execFileSync(process.execPath, ['-e', load, path], { encoding: 'utf8' }));
  const broken = Object.assign(new Error('broken', { cause }), { code: 'module_broken', path });
  expect((await startTrouble(broken, { settings: settings(), command: 'serve' })).fixes).toEqual(fixes(path));
});

test('an invalid vault key can be replaced where there is no vault yet; another key has to be restored', async () => {
  const fixFor = async (message: string) =>
    (await startTrouble(failed('vault_locked', message), { settings: settings(), command: 'serve' })).fixes?.[0];
  expect(await fixFor('DRAGOMAN_VAULT_KEY is not a valid key: too short.')).toContain('openssl rand -base64 32');
  expect(await fixFor('The vault was encrypted with a different key.')).toContain('restore the key');
});
