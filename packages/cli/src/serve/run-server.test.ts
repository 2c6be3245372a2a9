import type { Server, ServerOptions } from '@dragoman/server';
import { expect, test, vi } from 'vitest';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { troubleOf } from '../trouble.ts';
import { runServer } from './run-server.ts';
import type { ServeSettings } from './settings.ts';

const SETTINGS = {
  config: { host: '127.0.0.1', port: 0 },
  configPath: undefined,
  flags: { config: '', data: '' },
  data: '/data',
  adminKey: undefined,
  vaultKey: undefined,
};

/** A run of a server that the test controls. */
function run({
  start,
  stop = async () => {},
  onHangUp,
  isTTY = false,
  command = 'serve',
  settings = SETTINGS,
}: {
  start?: (options: ServerOptions) => void;
  stop?: () => Promise<void>;
  onHangUp?: () => Promise<void>;
  isTTY?: boolean;
  command?: 'serve' | 'dev';
  settings?: ServeSettings;
}) {
  const surroundings = new FakeSurroundings({ isTTY });
  const adminKeys: string[] = [];
  const listening = vi.fn(async () => {});
  let given: ServerOptions | undefined;
  const ended = runServer({
    settings,
    context: { ...surroundings, terminal: surroundings.terminal, finish: () => {} },
    json: true,
    command,
    onAdminKey: (key) => adminKeys.push(key),
    onListening: listening,
    ...(onHangUp !== undefined && { onHangUp }),
    start: async (options) => {
      given = options;
      start?.(options);
      const url = 'http://127.0.0.1:1';
      return { url, adminUrl: url, wire: {}, messages: {}, stop } as unknown as Server;
    },
  });
  // Looked at by the test when it wants to, which may be after it failed.
  ended.catch(() => {});
  return { ended, surroundings, adminKeys, listening, options: () => given };
}

test('it listens, stops in good order at the first signal, and releases the signals', async () => {
  const stop = vi.fn(async () => {});
  const { ended, surroundings, listening } = run({ stop });
  await expect.poll(() => listening).toHaveBeenCalledOnce();
  expect(surroundings.out).toBe('{"event":"listening","url":"http://127.0.0.1:1"}\n');
  expect(stop).not.toHaveBeenCalled();
  surroundings.interrupt();
  expect(await ended).toBe(0);
  expect(stop).toHaveBeenCalledOnce();
  expect(surroundings.isListening).toBe(false);
  expect(surroundings.exits).toEqual([]);
});

test.each([
  ['serve', 'npx dragoman tools accept odd__say --url http://127.0.0.1:1'],
  ['dev', 'npx dragoman tools accept odd__say --data there'],
] as const)('%s names the command that accepts a changed tool at this server only', async (command, expected) => {
  const settings = { ...SETTINGS, flags: { config: '', data: ' --data there' } };
  const { ended, surroundings, listening, options } = run({ command, settings });
  await expect.poll(() => listening).toHaveBeenCalledOnce();
  expect(options()?.howToAccept?.('odd__say')).toBe(expected);
  surroundings.interrupt();
  await ended;
});

test('a second signal does not wait', async () => {
  const { surroundings, listening } = run({ stop: () => new Promise(() => {}) });
  await expect.poll(() => listening).toHaveBeenCalledOnce();
  surroundings.interrupt();
  expect(surroundings.exits).toEqual([]);
  surroundings.interrupt();
  expect(surroundings.exits).toEqual([1]);
});

test('a signal that arrives while it starts is not lost', async () => {
  const { ended, surroundings } = run({});
  surroundings.interrupt();
  expect(await ended).toBe(0);
});

test('when the disk fails, it ends with the reason, whether it runs or drains', async () => {
  for (const draining of [false, true]) {
    const { ended, surroundings, listening, options } = run({ stop: () => new Promise(() => {}) });
    await expect.poll(() => listening).toHaveBeenCalledOnce();
    if (draining) surroundings.interrupt();
    options()?.onFatal?.(new Error('fsync failed'));
    const trouble = troubleOf(await ended.catch((error: unknown) => error));
    expect(trouble).toMatchObject({ code: 'store_failed', message: expect.stringContaining('fsync failed') });
  }
});

test('the admin key is handed over once, also when the start fails after it was made', async () => {
  const started = run({ start: ({ onAdminKey }) => onAdminKey?.('dgm_first') });
  await expect.poll(() => started.listening).toHaveBeenCalledOnce();
  expect(started.adminKeys).toEqual(['dgm_first']);
  started.surroundings.interrupt();
  await started.ended;
  const failed = run({
    start: ({ onAdminKey }) => {
      onAdminKey?.('dgm_lost');
      throw Object.assign(new Error('no'), { code: 'EACCES' });
    },
  });
  expect(troubleOf(await failed.ended.catch((error: unknown) => error))?.code).toBe('port_forbidden');
  expect(failed.adminKeys).toEqual(['dgm_lost']);
  expect(failed.surroundings.isListening).toBe(false);
});

test('SIGHUP has a service read its configuration again, as long as it runs', async () => {
  const onHangUp = vi.fn(async () => {});
  let stopped = () => {};
  const stop = () => new Promise<void>((resolve) => (stopped = resolve));
  const { ended, surroundings, listening } = run({ onHangUp, stop });
  surroundings.hangUp();
  expect(onHangUp).not.toHaveBeenCalled();
  await expect.poll(() => listening).toHaveBeenCalledOnce();
  surroundings.hangUp();
  surroundings.hangUp();
  expect(onHangUp).toHaveBeenCalledTimes(2);
  surroundings.interrupt();
  await new Promise(setImmediate);
  surroundings.hangUp();
  expect(onHangUp).toHaveBeenCalledTimes(2);
  stopped();
  expect(await ended).toBe(0);
  expect(surroundings.isListening).toBe(false);
});

test.each([
  ['a terminal', { isTTY: true, onHangUp: async () => {} }],
  ['one that has nothing to read again', {}],
])('on %s SIGHUP stops it in good order', async (_, options) => {
  const stop = vi.fn(async () => {});
  const { ended, surroundings, listening } = run({ ...options, stop });
  await expect.poll(() => listening).toHaveBeenCalledOnce();
  surroundings.hangUp();
  expect(await ended).toBe(0);
  expect(stop).toHaveBeenCalledOnce();
  expect(surroundings.isListening).toBe(false);
});
