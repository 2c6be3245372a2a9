import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'undici';
import { afterAll, describe, expect, test } from 'vitest';
import { loadEngine } from '../../packages/core/src/store/sqlite-engine.ts';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { auth, query, request, signed, signingCaller } from './a2a-peer.ts';
import { call } from './call.ts';
import { agentModule, System } from './system.ts';

// Always true: a nonce is accepted once, accepted messages are kept, and a flood does not delay others.

const system = System.create({
  crashPoints: true,
  config: {
    agents: {
      echo: { driver: 'module', module: agentModule('load'), max_parallel: 64 },
      whoami: { driver: 'module', module: agentModule('whoami'), max_parallel: 64 },
    },
    messages: { port: 0, require_signatures: true },
  },
});
afterAll(() => system[Symbol.asyncDispose]());
await system.start();
const ada = await signingCaller(system, 'ada-agent');

describe('replays', () => {
  test('10,000 at once store one message and run it once', async () => {
    const message = signed(ada, { ...request({ content: 'once' }), recipient_id: 'whoami' });
    const pool = new Pool(system.url, { connections: 128 });
    const answers = new Map<string, number>();
    await Promise.all(
      Array.from({ length: 10_000 }, async () => {
        const answer = await post(pool, message);
        const { message_id, payload } = answer.json;
        const seen = JSON.stringify([answer.status, message_id, payload]);
        answers.set(seen, (answers.get(seen) ?? 0) + 1);
      }),
    );
    await pool.close();
    expect([...answers.values()]).toEqual([10_000]);
    expect(JSON.parse([...answers.keys()][0] ?? '[]')).toMatchObject([
      200,
      expect.any(String),
      { status: 'success', data: { caller: 'ada-agent', asked: 1 } },
    ]);
    await system.kill();
    // A copy: this process may keep the file open, and no server starts on a database that is in use.
    const copy = join(system.folder, 'copy');
    cpSync(system.data, copy, { recursive: true });
    const { open } = await loadEngine();
    const database = open(join(copy, 'dragoman.db'));
    const rows = (table: string) => (database.prepare(`SELECT COUNT(*) AS n FROM ${table}`).get() as { n: number }).n;
    expect([rows('requests'), rows('nonces')]).toEqual([1, 1]);
    database.close();
    await system.start();
  });
});

describe('kill -9', () => {
  test('before the commit that accepts it, nothing has happened: the same bytes are taken as new', async () => {
    const message = await dying('life-1', 'before-commit', { crash: 'crash:before-commit:life-1' });
    expect(await ask(message)).toMatchObject({ status: 200, json: { payload: { data: { echoed: 'one two' } } } });
  });

  test('between the commit that accepts it and the answer, it is there: never run again, its nonce used', async () => {
    const message = await dying('life-2', 'after-commit', { crash: 'crash:after-commit:life-2' });
    const first = await ask(message);
    expect(first).toMatchObject({ status: 200, json: { payload: { error: { code: 'SERVICE_UNAVAILABLE' } } } });
    expect((await ask(message)).json['message_id']).toBe(first.json['message_id']);
    await refusesItsNonce(message);
  });

  test('between the commit of the answer and the answer, the same bytes get it', async () => {
    const message = await dying('life-3', 'after-commit', {
      crash: { at: 'final', moment: 'after-commit', life: 'life-3' },
    });
    expect(await ask(message)).toMatchObject({ status: 200, json: { payload: { data: { echoed: 'one two' } } } });
    await refusesItsNonce(message);
  });
});

describe('a clock that jumps', () => {
  test('is followed as soon as it jumps, and no message is answered twice; also after a restart', async () => {
    const file = join(system.folder, 'clock');
    const set = (hours: number) => writeFileSync(file, String(hours * HOUR));
    const sentAt = (hours: number) => {
      const timestamp = new Date(Date.now() + hours * HOUR).toISOString();
      return signed(ada, { ...request({ content: 'when' }), timestamp }, { timestamp });
    };
    const codeAt = async (hours: number) => (await ask(sentAt(hours))).status;
    await system.stop();
    set(0);
    await system.start({ DRAGOMAN_TEST_CLOCK: file });
    const first = sentAt(0);
    const answer = await ask(first);
    expect(answer.status).toBe(200);
    set(26);
    expect([await codeAt(0), await codeAt(26)]).toEqual([400, 200]);
    await system.kill();
    await system.start({ DRAGOMAN_TEST_CLOCK: file });
    expect([await codeAt(0), await codeAt(26)]).toEqual([400, 200]);
    set(0);
    expect([await codeAt(0), await codeAt(26)]).toEqual([200, 400]);
    // The stored answer.
    expect(await ask(first)).toMatchObject({ status: 200, json: { payload: answer.json['payload'] } });
    await system.kill();
    await system.start();
  });
});

describe('a flood', () => {
  test('of wrong signatures is soon not verified any more, and does not delay callers with a key', async () => {
    const others = await System.start({
      config: { agents: { whoami: { driver: 'module', module: agentModule('whoami'), max_parallel: 64 } } },
    });
    try {
      const own = await signingCaller(others, 'good-agent');
      const good = new Pool(others.url, { connections: 1 });
      const flood = new Pool(others.url, { connections: 32 });
      const times: number[] = [];
      const ask = async () => {
        const from = performance.now();
        const message = { ...request({ content: 'good' }), recipient_id: 'whoami', sender_id: 'good-agent' };
        const { status } = await post(good, message, own.api_key);
        times.push(performance.now() - from);
        return status;
      };
      for (let time = 0; time < ALLOWED; time++) await ask();
      const calm = p99(times.splice(0));
      const bad = signed({ ...ada, agentId: 'good-agent' }, request({}));
      const received = new Map<number, number>();
      let isOver = false;
      const flooding = Array.from({ length: 32 }, async () => {
        while (!isOver) {
          const { status } = await post(flood, bad);
          received.set(status, (received.get(status) ?? 0) + 1);
        }
      });
      const statuses = new Set<number>();
      for (let time = 0; time < ALLOWED; time++) statuses.add(await ask());
      isOver = true;
      await Promise.all(flooding);
      await Promise.all([good.close(), flood.close()]);
      expect([...statuses]).toEqual([200]);
      expect([...received.keys()].sort()).toEqual([401, 429]);
      // Those that were on their way when the last of the 120 failed are answered too.
      expect(received.get(401)).toBeLessThan(120 + 32);
      expect(p99(times), `calm: ${calm} ms`).toBeLessThan(Math.max(100, 10 * calm));
    } finally {
      await others[Symbol.asyncDispose]();
    }
  });

  test('every fault of an unproven sender counts, not only a wrong signature', async () => {
    const wrong: readonly (readonly [status: number, text: string])[] = [
      [400, '{'],
      [400, JSON.stringify({ ...signed(ada, request({})), payload: {} })],
      [400, JSON.stringify({ ...signed(ada, request({})), message_type: 'shout' })],
      [400, JSON.stringify(signed(ada, { ...request({}), timestamp: '2025-12-09T15:30:00.000Z' }))],
      [403, JSON.stringify(signed(ada, request({}), { agent_id: 'another-agent' }))],
    ];
    const others = await System.start({
      config: {
        agents: { whoami: { driver: 'module', module: agentModule('whoami') } },
        messages: { unproven_per_minute: wrong.length },
      },
    });
    try {
      const own = await signingCaller(others, 'good-agent');
      const send = async (text: string, key?: string) => {
        const headers = { 'content-type': 'application/json' };
        const given = key !== undefined && { key };
        return (await call(others.url, { method: 'POST', path: '/a2a/messages', text, headers, ...given })).status;
      };
      const good = () => JSON.stringify(signed(own, { ...request({}), recipient_id: 'whoami' }));
      // Neither proven messages nor those with a key count.
      for (let time = 0; time < 6; time++) expect(await send(good())).toBe(200);
      for (let time = 0; time < 6; time++) expect(await send('{', own.api_key)).toBe(400);
      for (const [status, text] of wrong) expect(await send(text), text).toBe(status);
      expect(await send('{')).toBe(429);
      expect(await send(good(), own.api_key)).toBe(200);
    } finally {
      await others[Symbol.asyncDispose]();
    }
  });
});

/** A message that the server dies of, at the moment named; then it is started again. */
async function dying(life: string, moment: string, crash: JsonObject): Promise<JsonObject> {
  await system.stop();
  await system.start({ DRAGOMAN_CRASH: life });
  const message = signed(ada, request({ content: 'one two', ...crash }));
  await expect(ask(message), moment).rejects.toThrow();
  expect(await system.exited).toEqual({ code: null, signal: 'SIGKILL' });
  await system.start();
  return message;
}

/** Other bytes with the nonce of a message, as a request and as a query. */
async function refusesItsNonce(message: JsonObject): Promise<void> {
  const nonce = String(auth(message)['nonce']);
  for (const other of [request({ content: 'else' }), query({})]) {
    expect(await ask(signed(ada, other, { nonce }))).toMatchObject({
      status: 409,
      json: { payload: { error: { code: 'NONCE_REUSED' } } },
    });
  }
}

async function ask(json: JsonObject): Promise<{ status: number; json: JsonObject }> {
  const answer = await call(system.url, { method: 'POST', path: '/a2a/messages', json });
  return { status: answer.status, json: (await answer.json()) as JsonObject };
}

async function post(pool: Pool, message: JsonObject, key?: string): Promise<{ status: number; json: JsonObject }> {
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/a2a/messages',
    headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(message),
  });
  return { status: statusCode, json: (await body.json()) as JsonObject };
}

function p99(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
}

const HOUR = 3_600_000;
/** So many that one which is late because the machine was is not the 99th of a hundred. */
const ALLOWED = 200;
