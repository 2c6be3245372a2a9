import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { loadEngine } from '../../packages/core/src/store/sqlite-engine.ts';
import { call } from '../system/call.ts';
import { Caller } from '../system/caller.ts';
import { moduleAgent, System } from '../system/system.ts';

const CONFIG = { default_agent: 'slow', agents: { slow: { ...moduleAgent('load'), max_parallel: 8 } } };

describe('a log with a flipped bit, after a kill,', () => {
  test('is refused rather than bring a revoked key back to life, until the loss is accepted', async () => {
    await using system = await System.start({ config: CONFIG, needsFolder: 'its files are damaged' });
    const { key_id: keyId, agent_id: agentId, api_key: key } = await system.caller('leaver');
    const revoked = await call(system.url, { method: 'DELETE', path: `/admin/v1/keys/${keyId}`, key: system.adminKey });
    expect(revoked.status, agentId).toBeLessThan(300);
    expect((await withKey(system, key)).status).toBe(401);
    const marker = join(system.data, 'dragoman.db-commits');
    const since = Date.now();
    await system.caller('somebody-else');
    await expect.poll(() => statSync(marker).mtimeMs).toBeGreaterThan(since);
    await system.kill();
    const log = join(system.data, 'dragoman.db-wal');
    const bytes = readFileSync(log);
    // In a page of the first commit: SQLite takes the log to end before it.
    bytes.writeUInt8(bytes.readUInt8(500) ^ 1, 500);
    writeFileSync(log, bytes);

    expect(await system.begin()).toBe(false);
    await system.exited;
    expect(system.log).toContain('has lost recorded history');
    const refused = await dragoman(system, ['serve', ...place(system)]);
    expect(refused.code).toBe(1);
    expect(refused.text).toContain('back-up-and-restore.md');
    expect(refused.text).toMatch(/serve .*--accept-loss/);
    await using accepted = await Served.start(system, ['--accept-loss']);
    expect((await call(accepted.url, { path: '/health' })).status).toBe(200);
  });
});

test('an empty database beside a vault key is refused, not started as new', async () => {
  await using system = await System.start({ config: CONFIG, needsFolder: 'its files are damaged' });
  const put = { type: 'bearer-token', value: 'a-secret-value', hosts: ['api.example.com'] };
  const path = '/admin/v1/credentials/one';
  const stored = await call(system.url, { method: 'PUT', path, key: system.adminKey, json: put });
  expect(stored.status).toBeLessThan(300);
  await system.stop();
  writeFileSync(join(system.data, 'dragoman.db'), '');
  expect(await system.begin()).toBe(false);
  await system.exited;
  expect(system.log).toContain('missing or empty');
  expect(statSync(join(system.data, 'dragoman.db')).size).toBe(0);
});

test('one damaged open request, key or agent does not affect others, and the doctor lists them', async () => {
  await using system = await System.start({ config: CONFIG, needsFolder: 'its files are damaged' });
  const keys = await Promise.all(['ann', 'bob', 'eve'].map((id) => system.caller(id)));
  const [ann, bob, eve] = keys.map(({ api_key: key }) => new Caller(system, key));
  if (ann === undefined || bob === undefined || eve === undefined) throw new Error('three callers were made');
  const params = { content: 'never ends', pause_ms: 600_000 };
  for (const id of ['sound', 'damaged']) {
    const stream = await ann.post(
      { request_id: id, method: 'chat.send', is_stream: true, params },
      { accept: 'application/x-ndjson' },
    );
    await stream.frames().next();
    stream.message.destroy();
  }
  await system.kill();
  await change(system, [
    "UPDATE requests SET envelope = replace(envelope, 'never', 'NEVER') WHERE request_id = 'damaged'",
    `UPDATE keys SET role = 'admin' WHERE key_id = '${keys[1]?.key_id}'`,
    "UPDATE agents SET definition = replace(definition, '[', '[ ') WHERE agent_id = 'eve'",
  ]);
  await system.start();
  const frames = await ann.resume('sound');
  expect(JSON.parse(frames.at(-1) ?? '')).toMatchObject({ is_final: true, body: { code: 'E2A.INTERRUPTED' } });
  const damaged = await ann.get('damaged/responses');
  expect(damaged.status).toBe(500);
  expect(await damaged.json()).toMatchObject({ code: 'store_damaged' });
  const next = await ann.post({ request_id: 'next', method: 'chat.send', params: { content: 'hello' } });
  expect(next.status).toBe(200);
  expect((await withKey(system, bob.key)).status).toBe(401);
  expect((await withKey(system, eve.key)).status).toBeGreaterThanOrEqual(400);
  expect(system.log).toContain('ended as store_damaged');
  expect(system.log).toContain('left out as store_damaged');
  await system.stop();
  const { text } = await dragoman(system, ['doctor', ...place(system)]);
  for (const name of ['request damaged of', `key ${keys[1]?.key_id} of`, 'agent eve']) expect(text).toContain(name);
});

test('without its lock file the folder of a running server still takes no second one', async () => {
  await using system = await System.start({ config: CONFIG, needsFolder: 'its files are damaged' });
  rmSync(join(system.data, 'dragoman.lock'));
  const second = await dragoman(system, ['serve', ...place(system)]);
  expect(second.code).toBe(1);
  expect(second.text).toContain('is in use by a running server');
  expect((await call(system.url, { path: '/health' })).status).toBe(200);
});

test('a second SIGTERM ends the server at once with exit code 1, in the middle of writes', async () => {
  for (let round = 0; round < 5; round += 1) {
    await using system = System.create({
      config: CONFIG,
      needsFolder: 'it is ended in the middle of writes to its folder',
    });
    const served = await Served.start(system);
    const body = { agent_id: 'caller-agent', permissions: { agents: ['*'] } };
    const made = await call(served.url, { method: 'POST', path: '/admin/v1/agents', key: system.adminKey, json: body });
    const { api_key: key } = (await made.json()) as { api_key: string };
    const params = { content: 'a word a frame '.repeat(2_000), pause_ms: 1 };
    for (let number = 0; number < 8; number += 1) {
      const json = { request_id: `r${number}`, method: 'chat.send', is_stream: true, params };
      const stream = await call(served.url, {
        method: 'POST',
        path: '/e2a',
        key,
        accept: 'application/x-ndjson',
        json,
      });
      await stream.frames().next();
      stream.message.destroy();
    }
    served.child.kill('SIGTERM');
    await served.waitFor('Stopping');
    served.child.kill('SIGTERM');
    expect(await served.exited).toEqual([1, null]);
  }
});

function withKey(system: System, key: string) {
  return call(system.url, { path: '/e2a/requests/unknown/responses', key });
}

function place(system: System): string[] {
  return ['--config', join(system.folder, 'dragoman.yaml'), '--data', system.data, '--port', '0'];
}

/** Changes the database of a server that does not run. */
async function change(system: System, statements: readonly string[]): Promise<void> {
  const database = (await loadEngine()).open(join(system.data, 'dragoman.db'));
  for (const statement of statements) database.exec(statement);
  database.close();
}

function spawned(system: System, args: readonly string[]): ChildProcess {
  const env = { PATH: process.env['PATH'] ?? '', DRAGOMAN_ADMIN_KEY: system.adminKey };
  return spawn(process.execPath, [system.command, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** The command, to its end. */
async function dragoman(system: System, args: readonly string[]): Promise<{ code: number | null; text: string }> {
  const child = spawned(system, args);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (part) => (text += part));
  const [code] = await once(child, 'close');
  return { code, text };
}

/** The `serve` command while it runs. */
class Served implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly url: string;
  readonly exited: Promise<unknown[]>;
  #text = '';

  private constructor(child: ChildProcess, url: string) {
    this.child = child;
    this.url = url;
    this.exited = once(child, 'exit');
    child.stderr?.setEncoding('utf8').on('data', (part) => (this.#text += part));
  }

  static async start(system: System, more: readonly string[] = []): Promise<Served> {
    const child = spawned(system, ['serve', ...place(system), ...more]);
    for await (const line of createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> })) {
      const url = /listens at (http:\S+)/.exec(line)?.[1];
      if (url !== undefined) return new Served(child, url);
    }
    throw new Error('the server ended before it listened');
  }

  async waitFor(words: string): Promise<void> {
    await expect.poll(() => this.#text).toContain(words);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGKILL');
    await this.exited;
  }
}
