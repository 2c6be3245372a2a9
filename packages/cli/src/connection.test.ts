import { chmodSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { FakeSurroundings } from '../test-support/fake-surroundings.ts';
import { temporaryFolder } from '../test-support/temporary-folder.ts';
import { findKey, findServer } from './connection.ts';
import { DEFAULT_DEV_DATA, devKeysPath, writeDevKeys } from './dev-keys.ts';
import { selfSigned } from './listen/self-signed.ts';
import { main } from './main.ts';

const KEYS = { url: 'http://127.0.0.1:7999', key: 'dgm_agent', admin_key: 'dgm_admin' };

/** A folder in which `dragoman dev` has run. */
function devFolder(): string {
  const folder = temporaryFolder();
  writeDevKeys(join(folder, DEFAULT_DEV_DATA), KEYS);
  return folder;
}

describe('the server', () => {
  test('is at the default address', () => {
    expect(findServer({}, { environment: {}, folder: temporaryFolder() })).toEqual({
      url: 'http://127.0.0.1:7420',
      dev: undefined,
    });
  });

  test('is that of dragoman dev where it has run', () => {
    const found = findServer({}, { environment: {}, folder: devFolder() });
    expect(found).toMatchObject({ url: KEYS.url, dev: { key: 'dgm_agent' } });
  });

  test('is the environment variable, and --url before it', () => {
    const surroundings = { environment: { DRAGOMAN_HOST: '0.0.0.0', DRAGOMAN_PORT: '8000' }, folder: devFolder() };
    expect(findServer({}, surroundings).url).toBe('http://127.0.0.1:8000');
    expect(findServer({ url: 'https://example.com' }, surroundings).url).toBe('https://example.com');
  });
});

describe('the key', () => {
  const keyFor = (url: string | undefined, folder = devFolder(), environment = {}, options = {}) => {
    const surroundings = { environment, folder };
    const { dev } = findServer(url === undefined ? {} : { url }, surroundings);
    return findKey({ options, context: surroundings, role: 'agent', dev });
  };

  test('of an administrator names the option that it was read with', () => {
    const context = { environment: {}, folder: devFolder() };
    const sourceOf = (options: object) => findKey({ options, context, role: 'admin', dev: undefined })?.source;
    expect(sourceOf({ adminKey: 'dgm_a' })).toBe('--admin-key');
    expect(sourceOf({ adminKey: 'dgm_a', adminKeyFile: 'admin.key' })).toBe('--admin-key-file');
  });

  test('is the option, else the environment variable, else the key of dragoman dev', () => {
    const environment = { DRAGOMAN_KEY: 'dgm_env' };
    expect(keyFor(undefined, devFolder(), environment, { key: 'dgm_flag' })).toMatchObject({ key: 'dgm_flag' });
    expect(keyFor(undefined, devFolder(), environment)).toEqual({ key: 'dgm_env', source: 'DRAGOMAN_KEY' });
    expect(keyFor(undefined)).toEqual({ key: 'dgm_agent', source: '.dragoman/dev/dev-keys.json' });
  });

  test('of dragoman dev goes to its own server only, by whatever name of this machine', () => {
    expect(keyFor('http://localhost:7999')?.key).toBe('dgm_agent');
    expect(keyFor('http://[::1]:7999')?.key).toBe('dgm_agent');
    for (const url of ['http://127.0.0.1:7420', 'http://example.com:7999', 'https://127.0.0.1:7999']) {
      expect(keyFor(url), url).toBeUndefined();
    }
    expect(() => keyFor('nonsense')).toThrow('url must be the address of a server');
  });

  test('that others can read is used, and a note says how to fix that', () => {
    const folder = devFolder();
    chmodSync(devKeysPath(join(folder, DEFAULT_DEV_DATA)), 0o644);
    expect(keyFor(undefined, folder)?.source).toContain('chmod 600');
  });
});

describe('errors', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  const listen = async (answer: (path: string) => { status: number; body: object }): Promise<string> => {
    server = createServer(({ url = '' }, response) => {
      const { status, body } = answer(url);
      response.writeHead(status, { 'Content-Type': 'application/problem+json' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const healthy = { status: 200, body: { status: 'healthy', service: 'a2e-server', version: '0' } };
  const run = async (...args: string[]) => {
    const surroundings = new FakeSurroundings({ folder: temporaryFolder() });
    return { code: await main(args, surroundings), notes: surroundings.notes };
  };

  test('no server is running: the error names the command that starts one', async () => {
    const { code, notes } = await run('send', '--url', 'http://127.0.0.1:2', 'hello');
    expect(code).toBe(1);
    expect(notes).toContain('cannot connect to http://127.0.0.1:2\n  → start it with: npx dragoman serve');
  });

  test('a server that mcp does not find is named by the option of mcp', async () => {
    const { code, notes } = await run('mcp', '--server', 'http://127.0.0.1:2');
    expect(code).toBe(1);
    expect(notes).toContain('or specify another server with --server\n');
  });

  test('there is no key', async () => {
    const url = await listen(() => healthy);
    const { code, notes } = await run('send', '--url', url, 'hello');
    expect(code).toBe(1);
    expect(notes).toContain(`no key for the server at ${url}`);
    expect(notes).toContain('in another folder: --data FOLDER/.dragoman/dev');
    expect(notes).toContain('export DRAGOMAN_KEY=KEY');
    expect((await run('keys', 'list', '--url', url)).notes).toContain('export DRAGOMAN_ADMIN_KEY=KEY');
  });

  test('the key is wrong: the error names its source and who can create one', async () => {
    const refusal = { status: 401, body: { code: 'unauthenticated', detail: 'no' } };
    const url = await listen((path) => (path === '/health' ? healthy : refusal));
    const { code, notes } = await run('send', '--url', url, '--key', 'dgm_wrong', 'hello');
    expect(code).toBe(1);
    expect(notes).toContain('rejected the key from --key');
    expect(notes).toContain('npx dragoman keys create');
    expect(notes).toContain("npx dragoman agents add AGENT_ID --may-call '*'");
  });

  test('an agent key does not administer', async () => {
    const refusal = { status: 403, body: { code: 'forbidden', detail: 'Permission denied.' } };
    const url = await listen((path) => (path === '/health' ? healthy : refusal));
    const { notes } = await run('agents', 'list', '--url', url, '--admin-key', 'dgm_agent');
    expect(notes).toContain('that is the key of an agent; give the admin key with --admin-key KEY');
  });

  test('every problem the server finds is shown, with its fix', async () => {
    const issues = [
      { pointer: '/agent_id', code: 'pattern', message: 'agent_id is short', suggestion: 'make it longer' },
    ];
    const refusal = { status: 400, body: { code: 'invalid_message', detail: 'Invalid message.', issues } };
    const url = await listen((path) => (path === '/health' ? healthy : refusal));
    const { notes } = await run('agents', 'add', 'x', '--url', url, '--admin-key', 'dgm_admin');
    expect(notes).toBe(
      'warning: other users of this machine can see a key on the command line; use --admin-key-file FILE, --admin-key - or DRAGOMAN_ADMIN_KEY\n' +
        'error: Invalid message.\n  agent_id is short\n    → make it longer\n',
    );
  });

  test.each([
    ['send', ['hello']],
    ['watch', ['r1', '--after', '3']],
  ])('%s waits where the server says so, and says why instead of blaming the connection', async (command, args) => {
    const busy = { status: 503, body: { code: 'busy', detail: 'Too much waits.', retryable: true, retry_after: 0.1 } };
    const refusal = { status: 404, body: { code: 'not_found', detail: 'Request not found.' } };
    let prompts = 0;
    const url = await listen((path) => (path === '/health' ? healthy : prompts++ === 0 ? busy : refusal));
    const { notes } = await run(command, ...args, '--url', url, '--key', 'dgm_agent');
    expect(notes).toMatch(/Too much waits\. trying again in \d\.\d s\n/);
    expect(notes).not.toContain('the connection broke');
    expect(notes).not.toContain('ended before frame');
  });

  test('a url or a key that cannot be one is not understood', async () => {
    expect(await run('send', '--key', 'two words', 'hello')).toMatchObject({ code: 2 });
    const pem = join(temporaryFolder(), 'own.pem');
    await run('agents', 'keygen', '--out', pem);
    const expected = 'error: url must be the address of a server, such as http://127.0.0.1:7420; got "ftp://x"\n';
    for (const command of [
      ['send', 'hello'],
      ['agents', 'list'],
      ['agents', 'call', 'echo', 'say', '--as', 'desk', '--sign', pem],
      ['listen', '--port', '0'],
      ['doctor'],
      ['tour'],
    ]) {
      expect(await run(...command, '--url', 'ftp://x'), command.join(' ')).toEqual({ code: 2, notes: expected });
    }
  });

  test('an unreachable server is reported alike with and without a signature', async () => {
    const pem = join(temporaryFolder(), 'own.pem');
    await run('agents', 'keygen', '--out', pem);
    const { notes } = await run(
      ...['agents', 'call', 'echo', 'say', '--as', 'desk', '--sign', pem],
      '--url',
      'http://127.0.0.1:2',
    );
    expect(notes).toContain('cannot connect to http://127.0.0.1:2\n  → start it with: npx dragoman serve');
  });
});

describe('a server that cannot be reached', () => {
  const expected = async (url: string) => {
    const surroundings = new FakeSurroundings({ folder: temporaryFolder(), environment: { DRAGOMAN_URL: url } });
    expect(await main(['agents', 'list', '--admin-key', 'dgm_x'], surroundings)).toBe(1);
    return surroundings.notes;
  };
  const listening = async (server: {
    listen(port: number, host: string, done: () => void): unknown;
    address(): unknown;
  }) => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  };

  test('is reported with what is wrong with its certificate, and what to do', async () => {
    const server = createSecureServer(selfSigned({ now: new Date(), days: 2 }));
    const url = `https://127.0.0.1:${await listening(server)}`;
    const notes = await expected(url);
    server.close();
    expect(notes).toContain(`${url} cannot be reached: its TLS certificate is not trusted (`);
    expect(notes).toContain('NODE_EXTRA_CA_CERTS=FILE.pem');
    expect(notes).not.toContain('nothing answers');
  });

  test('is reported as one without TLS, with the url to write', async () => {
    const server = createServer();
    const notes = await expected(`https://127.0.0.1:${await listening(server)}`);
    server.close();
    expect(notes).toContain('cannot be reached: it does not speak TLS');
    expect(notes).toContain('write http:// in the url');
  });

  test('is reported with a host name that cannot be resolved, or as one where nothing listens', async () => {
    expect(await expected('http://no-such-host.invalid:7420')).toContain('its host name cannot be resolved');
    const server = createServer();
    const port = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await expected(`http://127.0.0.1:${port}`)).toContain(`cannot connect to http://127.0.0.1:${port}`);
  });
});

test('DRAGOMAN_URL is the address of the server; --url takes precedence', () => {
  const surroundings = { environment: { DRAGOMAN_URL: 'https://a.example', DRAGOMAN_PORT: '1' }, folder: devFolder() };
  expect(findServer({}, surroundings)).toEqual({ url: 'https://a.example', dev: undefined });
  expect(findServer({ url: 'https://b.example' }, surroundings).url).toBe('https://b.example');
});
