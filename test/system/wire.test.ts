import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { linePeer, NETWORK_TRANSPORTS, type WirePeer } from '../../packages/server/src/edges/wire-peer.contract.ts';
import { RawPeer } from './raw-peer.ts';
import { agentModule, System } from './system.ts';
import { WireCaller } from './wire-caller.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-wire-'));
const TOOLS = fileURLToPath(new URL('../../packages/server/src/edges/fixtures/tools.mjs', import.meta.url));
const line = (fields: object) => `${JSON.stringify(fields)}\n`;
const operation = (operationId: string, given: object) =>
  line({ type: 'operationUpdate', operationId, operation: given });
writeFileSync(
  join(folder, 'shout.jsonl'),
  operation('now', { GetCurrentDateTime: { timezone: 'UTC', outputPath: '/workflow/now' } }) +
    operation('write', {
      FormatText: {
        inputPath: '/workflow/now',
        template: 'Hello {{name}}!',
        format: 'template',
        outputPath: '/workflow/text',
      },
    }) +
    operation('pause', { Wait: { duration: '{{pause_ms}}' } }) +
    line({ type: 'beginExecution', executionId: 'always-the-same', operationOrder: ['now', 'write', 'pause'] }),
);
const config = {
  tools: [
    TOOLS,
    { name: 'greeting', description: 'A workflow.', workflow: join(folder, 'shout.jsonl') },
    { name: 'ask_echo', description: 'An agent.', agent: 'echo' },
  ],
  agents: { echo: { driver: 'module' as const, module: agentModule('echo') } },
};
const wire = { port: 0, socket: join(folder, 'wire.sock'), max_parallel: 2, max_queued: 1 };
const system = await System.start({ config: { ...config, wire } });
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const ALL = { tools: ['*'], agents: ['*'], operations: ['*'] };
const { api_key: key, key_id: keyId } = await system.caller('ada-agent', { permissions: ALL });
const { api_key: narrow } = await system.caller('bob-agent', { permissions: { tools: ['greeting', 'ask_echo'] } });

const place = () => ({ url: system.url, wire: { url: system.wireUrl, socket: wire.socket } });
const TRANSPORTS: Readonly<Record<string, () => Promise<WirePeer>>> = {
  stdio: async () => stdioPeer(),
  ...Object.fromEntries(Object.entries(NETWORK_TRANSPORTS).map(([name, open]) => [name, () => open(place(), key)])),
};

async function connected(name: string): Promise<WireCaller> {
  const open = TRANSPORTS[name];
  if (open === undefined) throw new Error(`there is no way in named ${name}`);
  return new WireCaller(await open());
}

/** The command in its own process, started by its client. */
function stdioPeer(): WirePeer {
  const path = join(folder, 'wire.yaml');
  writeFileSync(path, JSON.stringify({ ...config, wire: { max_parallel: 2, max_queued: 1 } }));
  const child = spawn(process.execPath, [system.command, 'wire', '--config', path], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const exited = once(child, 'exit');
  // It may have ended already.
  child.stdin.on('error', () => {});
  const peer = linePeer({
    write: (text) => void child.stdin.write(text),
    end: () => void child.stdin.end(),
    read: child.stdout,
  });
  return {
    ...peer,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await exited;
    },
  };
}

describe.each(Object.entries(TRANSPORTS))('the wire of a real server over %s', (name, open) => {
  test.each([
    ['auth_failed', { auth_token: 'dgm_wrong' }],
    ['version_mismatch', { a2e: '2.0', auth_token: '' }],
    ['no_caps', { agent_caps: ['teleport'] }],
  ])('rejects a handshake with %s and closes', async (reason, fields) => {
    await using agent = new WireCaller(await open());
    const token = name === 'stdio' ? '' : key;
    expect(await agent.ask('handshake/req', { auth_token: token, ...fields })).toMatchObject({ ok: false, reason });
    expect(await agent.peer.next()).toBeUndefined();
  });

  test('calls tools, cancels, refuses what is too much, and drains', async () => {
    await using agent = new WireCaller(await open());
    await agent.greet(name === 'stdio' ? '' : key);
    expect(await agent.use('sum', { of: [1, 2] })).toMatchObject({ data: { success: true, data: { sum: 3 } } });

    const steps = await agent.upTo(agent.call('steps', { count: 2 }, { streaming: true }));
    expect(steps.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, undefined]);

    // Two run, one waits, and the fourth is one too many.
    const [first, second, third, fourth] = [1, 2, 3, 4].map(() => agent.call('stuck')) as [
      string,
      string,
      string,
      string,
    ];
    expect(await agent.answer(fourth)).toMatchObject({ type: 'error', code: 'busy', retryable: true, req_id: fourth });
    for (const target of [third, first, second]) {
      const received = await agent.upTo(agent.send('tool/cancel/req', { target_id: target }));
      expect(received.at(-1)).toMatchObject({ type: 'tool/cancel/resp', cancelled: true });
      const ended = received.find(({ req_id }) => req_id === target) ?? (await agent.answer(target));
      expect(ended).toMatchObject({ type: 'error', detail: { failure: 'cancelled' } });
    }

    // What runs is waited for: one call ends by itself, the other keeps the connection open until it is cancelled.
    const held = agent.call('stuck');
    const last = agent.call('wait', { ms: 50 });
    agent.send('shutdown', { timeout: 60 });
    const late = agent.call('sum', { of: [] });
    const received = await agent.upTo(late);
    expect(received.at(-1)).toMatchObject({ type: 'error', code: 'busy' });
    const waited = received.find(({ req_id }) => req_id === last) ?? (await agent.answer(last));
    expect(waited).toMatchObject({ data: { data: { waited: 50 } } });
    agent.send('tool/cancel/req', { target_id: held });
    expect(await agent.answer(held)).toMatchObject({ type: 'error', detail: { failure: 'cancelled' } });
    while ((await agent.peer.next()) !== undefined);
  });

  test('lets a workflow and an agent answer', async () => {
    await using agent = new WireCaller(await open());
    await agent.greet(name === 'stdio' ? '' : key);
    const { tools } = await agent.ask('tool/list/req', { query: 'greeting' });
    expect(tools).toMatchObject([{ input_schema: { required: ['name', 'pause_ms'] } }]);
    for (const who of ['Ada', 'Bob']) {
      const received = await agent.upTo(agent.call('greeting', { name: who, pause_ms: 1 }, { streaming: true }));
      expect(received.at(-1)).toMatchObject({
        data: { success: true, data: { write: `Hello ${who}!` }, summary: { status: 'success' } },
      });
      const progress = received
        .filter(({ type }) => type === 'tool/event')
        .map(({ data }) => (data as JsonObject)['message']);
      expect(progress).toEqual(
        ['now', 'write', 'pause'].flatMap((id) => [`operation-started ${id}`, `operation-finished ${id}`]),
      );
    }
    expect(await agent.use('greeting', { name: 'Ada', pause_ms: 'long' })).toMatchObject({ type: 'error' });
    expect(await agent.use('ask_echo', { content: 'anybody there?' })).toMatchObject({
      data: { success: true, data: expect.anything() },
    });
  });
});

describe('a tool that something else answers', () => {
  test('needs the permission of what is behind it too', async () => {
    await using agent = await connected('tcp');
    await agent.greet(narrow);
    for (const [tool, args] of [
      ['greeting', { name: 'Eve', pause_ms: 1 }],
      ['ask_echo', { content: 'hello' }],
    ] as const) {
      expect(await agent.use(tool, args)).toMatchObject({ type: 'error', detail: { failure: 'forbidden' } });
    }
  });

  test('is cancelled behind the wire too: the execution is recorded as cancelled', async () => {
    await using agent = await connected('tcp');
    await agent.greet(key);
    const id = agent.call('greeting', { name: 'Ada', pause_ms: 20_000 }, { streaming: true });
    await agent.progress(id, 'operation-started pause');
    agent.send('tool/cancel/req', { target_id: id });
    expect(await agent.answer(id)).toMatchObject({ type: 'error', detail: { failure: 'cancelled' } });
    await expect
      .poll(async () => {
        const answer = await fetch(`${system.url}/api/v1/executions?status=cancelled`, {
          headers: { authorization: `Bearer ${key}` },
        });
        return ((await answer.json()) as { executions: unknown[] }).executions.length;
      })
      .toBe(1);
  });
});

test('twenty lines without an end cost no memory, and affect no other connection', async () => {
  await using good = await (await connected('tcp')).greet(key);
  const before = system.residentBytes;
  const { port } = new URL(system.wireUrl);
  const piece = Buffer.alloc(1024 * 1024, 'a');
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      using peer = await RawPeer.connect(Number(port));
      peer.send(line({ a2e: '1.0', type: 'handshake/req', id: 'hello', ts: 1, auth_token: key }));
      await peer.waitFor(/"ok":true/);
      let isOpen = true;
      void peer.closed.then(() => {
        isOpen = false;
      });
      for (let sent = 0; isOpen && sent < 100; sent += 1) {
        const isTaken = new Promise((resolve) => peer.socket.once('drain', resolve));
        if (!peer.send(piece)) await Promise.race([isTaken, peer.closed]);
      }
      expect(isOpen).toBe(false);
    }),
  );
  expect(system.residentBytes - before).toBeLessThan(300 * 1024 * 1024);
  expect(await good.ask('ping')).toMatchObject({ type: 'pong' });
});

test('every call leaves a line without its content; a revoked key and a stop end open calls', async () => {
  await using agent = await connected('unix');
  await agent.greet(key);
  await agent.use('echo', { secret: 'of the audit test' });
  const audit = join(system.data, 'audit', 'wire.ndjson');
  await expect.poll(() => existsSync(audit) && readFileSync(audit, 'utf8')).toContain('"name":"echo"');
  expect(readFileSync(audit, 'utf8')).not.toContain('of the audit test');

  const { api_key: second } = await system.caller('cy-agent', { permissions: ALL });
  await using other = await connected('tcp');
  await other.greet(second);
  const running = other.call('wait', { ms: 300, say: 'finished' });
  const revoked = await fetch(`${system.url}/admin/v1/keys/${keyId}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${system.adminKey}` },
  });
  expect(revoked.ok).toBe(true);
  expect(await agent.peer.next()).toBeUndefined();

  const stopped = system.stop();
  expect(await other.answer(running)).toMatchObject({ data: { data: { say: 'finished' } } });
  expect(await other.peer.next()).toBeUndefined();
  expect((await stopped).code).toBe(0);
  expect(existsSync(wire.socket)).toBe(false);
});
