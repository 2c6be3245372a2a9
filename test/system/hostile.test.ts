import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { closeCode, frame, head, upgradeHead } from '../../packages/server/src/edges/harness.contract.ts';
import { allFrames, call, type HttpAnswer } from './call.ts';
import { exchange, RawPeer } from './raw-peer.ts';
import { agentModule, System } from './system.ts';

const system = await System.start({
  config: {
    default_agent: 'echo',
    agents: {
      echo: { driver: 'module', module: agentModule('echo') },
      flood: { driver: 'module', module: agentModule('flood') },
    },
  },
});
const { api_key: KEY } = await system.caller('caller-agent');
const { host, port } = system;
const AUTH = `Authorization: Bearer ${KEY}`;

/** Somebody who behaves, all the while. */
const good = { waits: [] as number[], wrong: [] as string[], over: new AbortController() };
let traffic: Promise<void> | undefined;

/** Sockets that send a byte a second and never end their message. */
const dribblers: { headers: RawPeer[]; bodies: RawPeer[]; silent: RawPeer[]; fragments: RawPeer[] } = {
  headers: [],
  bodies: [],
  silent: [],
  fragments: [],
};
let dribbling: NodeJS.Timeout | undefined;

beforeAll(async () => {
  const many = (count: number, begin: string) =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const peer = await RawPeer.connect(port);
        if (begin !== '') peer.send(begin);
        return peer;
      }),
    );
  const json = ['Content-Type: application/json', AUTH];
  dribblers.headers = await many(300, `POST /e2a HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `);
  dribblers.silent = await many(100, '');
  dribblers.bodies = await many(
    100,
    head({ method: 'POST', path: '/e2a', host, fields: [...json, 'Content-Length: 5000'] }),
  );
  dribblers.fragments = await many(50, upgradeHead({ path: '/e2a/ws', host, fields: [AUTH] }));
  for (const peer of dribblers.fragments) peer.send(frame({ fin: false, payload: '{' }));
  dribbling = setInterval(() => {
    for (const peer of [...dribblers.headers, ...dribblers.bodies]) if (!peer.socket.destroyed) peer.send('x');
  }, 1000);
  traffic = behave();
});

afterAll(async () => {
  clearInterval(dribbling);
  good.over.abort();
  await traffic;
  for (const peer of Object.values(dribblers).flat()) peer[Symbol.dispose]();
  await system[Symbol.asyncDispose]();
});

describe('bodies', () => {
  test('a length over the limit is refused before a byte of it is sent', async () => {
    const fields = [AUTH, 'Content-Type: application/json', `Content-Length: ${2 ** 30}`];
    const received = await exchange(port, head({ method: 'POST', path: '/e2a', host, fields }));
    expect(received).toMatch(/^HTTP\/1.1 413 [\s\S]*"code":"too_large"/);
  });

  test('twenty without an end are cut off soon after the limit, and cost no memory', async () => {
    const before = system.residentBytes;
    const fields = [AUTH, 'Content-Type: application/json', 'Transfer-Encoding: chunked'];
    const chunk = `10000\r\n${'y'.repeat(65_536)}\r\n`;
    const sent = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const peer = await RawPeer.connect(port);
        peer.send(head({ method: 'POST', path: '/e2a', host, fields }));
        let bytes = 0;
        while (!peer.socket.destroyed && bytes < 2 ** 28) {
          bytes += chunk.length;
          if (!peer.send(chunk))
            await Promise.race([new Promise((resolve) => peer.socket.once('drain', resolve)), peer.closed]);
        }
        await peer.closed;
        return bytes;
      }),
    );
    // 1 MiB is read; the kernel had taken the rest before the connection closed. Otherwise a gibibyte would have been sent.
    expect(Math.max(...sent)).toBeLessThan(16 * MIB);
    // Twenty bodies of 1 MiB, once as chunks; they are garbage by now, but not yet collected.
    expect(system.residentBytes - before).toBeLessThan(64 * MIB);
  });

  test('one with a false length is not accepted, and leaves nothing', async () => {
    const body = JSON.stringify({ request_id: 'cut-off', method: 'chat.send', params: {} });
    const fields = [AUTH, 'Content-Type: application/json', `Content-Length: ${body.length + 10}`];
    const peer = await RawPeer.connect(port);
    peer.send(head({ method: 'POST', path: '/e2a', host, fields }) + body);
    peer.socket.end();
    await peer.closed;
    expect(peer.text).not.toMatch(/ 200 /);
    expect(await isKnown('cut-off')).toBe(false);
  });
});

describe('two requests that one of two servers would take for one', () => {
  const inner = (id: string) => {
    const body = JSON.stringify({ request_id: id, method: 'chat.send', params: {} });
    return (
      head({
        method: 'POST',
        path: '/e2a',
        host,
        fields: [AUTH, 'Content-Type: application/json', `Content-Length: ${body.length}`],
      }) + body
    );
  };

  test.each([
    ['both lengths', ['Content-Length: 4', 'Transfer-Encoding: chunked']],
    ['two lengths', ['Content-Length: 0', 'Content-Length: 4']],
    ['a coding in disguise', ['Transfer-Encoding: xchunked']],
    ['a coding twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity']],
    ['a space before the colon', ['Content-Length : 4']],
    ['a folded header', ['X-A: b', ' Content-Length: 4']],
  ])('%s: refused, closed, and the second never runs', async (name, fields) => {
    const id = `smuggled-${name.replaceAll(' ', '-')}`;
    const outer = head({
      method: 'POST',
      path: '/e2a',
      host,
      fields: [AUTH, 'Content-Type: application/json', ...fields],
    });
    const received = await exchange(port, `${outer}0\r\n\r\n${inner(id)}`);
    expect(received).toMatch(/^HTTP\/1.1 400 /);
    expect(received.match(/HTTP\/1\.1 \d{3} /g)).toHaveLength(1);
    expect(await isKnown(id)).toBe(false);
  });

  test('bare line feeds are no line ends', async () => {
    const received = await exchange(
      port,
      head({ path: '/health', host, fields: ['Connection: close'] }).replaceAll('\r\n', '\n'),
    );
    expect(received).toMatch(/^HTTP\/1.1 400 /);
  });
});

describe('invalid text', () => {
  const broken = (id: string) =>
    Buffer.concat([
      Buffer.from(`{"request_id":"${id}","method":"chat.send","params":{"content":"`),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}}'),
    ]);

  test('bytes that are not UTF-8 are refused by HTTP, not repaired', async () => {
    const body = broken('repaired');
    const fields = [AUTH, 'Content-Type: application/json', `Content-Length: ${body.length}`, 'Connection: close'];
    const received = await exchange(
      port,
      Buffer.concat([Buffer.from(head({ method: 'POST', path: '/e2a', host, fields })), body]),
    );
    expect(received).toMatch(/^HTTP\/1.1 400 [\s\S]*"code":"not_utf8"/);
    expect(await isKnown('repaired')).toBe(false);
  });

  test('and by the WebSocket, with 1007', async () => {
    expect(await closeOf([frame({ payload: broken('repaired-by-socket') })])).toBe(1007);
    expect(await isKnown('repaired-by-socket')).toBe(false);
  });

  test('nesting without end is refused with where it is', async () => {
    const text = `{"request_id":"deep","method":"chat.send","params":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const answer = await call(system.url, {
      method: 'POST',
      path: '/e2a',
      key: KEY,
      text,
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(/depth|deep|nest/i);
  });
});

describe('authentication', () => {
  test.each([
    ['a name that is not ours', 'evil.example', []],
    ['a page of another site', host, ['Origin: https://evil.example']],
  ])('%s is refused by HTTP and by the WebSocket', async (_, name, fields) => {
    const received = await exchange(
      port,
      head({ path: '/health', host: name, fields: [...fields, 'Connection: close'] }),
    );
    expect(received).toMatch(/^HTTP\/1.1 403 /);
    const upgrade = await exchange(port, upgradeHead({ path: '/e2a/ws', host: name, fields: [...fields, AUTH] }));
    expect(upgrade).toMatch(/^HTTP\/1.1 403 /);
  });

  test('guessing keys by the thousand opens nothing and reveals nothing', async () => {
    const bodies = new Set<string>();
    let looked = 0;
    for (let number = 0; number < 1000; number += 50) {
      const guesses = Array.from({ length: 50 }, (_, index) =>
        call(system.url, { path: '/e2a/requests/x/responses', key: `dgm_${number + index}` }),
      );
      for (const answer of await Promise.all(guesses)) {
        if (answer.status === 401) looked += 1;
        else expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
        bodies.add(`${answer.status} ${(await answer.text()).replace(/"retry_after":\d+/, '')}`);
      }
    }
    expect([...bodies].map((text) => text.slice(0, 3)).sort()).toEqual(['401', '429']);
    // As many as may fail in a minute; a caller with a key is not delayed by them.
    expect(looked).toBeLessThanOrEqual(200);
    expect((await call(system.url, { path: '/e2a/requests/x/responses', key: KEY })).status).toBe(404);
  });
});

test('500 readers that never read cost those who do nothing, and the server little', { timeout: 120_000 }, async () => {
  const [readers, frames, bytes, tail] = [500, 72, 64 * 1024, 8];
  const id = 'flooded';
  // More than the kernel takes for a peer that does not read (4 MB here), no faster than 500 can be given it.
  const params = { frames, bytes, pause_ms: 40 };
  const json = {
    request_id: id,
    session_id: 'flood',
    method: 'chat.send',
    agent_ref: { id: 'flood' },
    is_stream: true,
    params,
  };
  const first = await call(system.url, {
    method: 'POST',
    path: '/e2a',
    key: KEY,
    accept: 'application/x-ndjson',
    json,
  });
  const whole = digest(first);
  await interrupt('pause');
  const before = system.residentBytes;
  const open = (after: number) =>
    call(system.url, {
      path: `/e2a/requests/${id}/responses?after=${after}`,
      key: KEY,
      accept: 'application/x-ndjson',
    });
  const idle: HttpAnswer[] = [];
  const busy: Promise<Digest>[] = [];
  for (let number = 0; number < readers; number += 50) {
    idle.push(...(await Promise.all(Array.from({ length: 50 }, () => open(-1)))));
    // The end of it is enough to see that they are served while the others are not.
    busy.push(...(await Promise.all(Array.from({ length: 50 }, () => open(frames - tail)))).map(digest));
  }
  await interrupt('resume');
  const results = await Promise.all(busy);
  const peak = system.residentBytes;
  expect((await whole).frames).toBe(frames + 1);
  expect(new Set(results.map(({ hash }) => hash)).size).toBe(1);
  expect(results[0]).toEqual(await digest(await open(frames - tail)));
  expect(results[0]?.frames).toBe(tail);
  expect(idle).toHaveLength(readers);
  expect(idle.every(({ message }) => !message.destroyed)).toBe(true);
  process.stderr.write(`500 that never read: ${Math.round((peak - before) / MIB)} MiB more\n`);
  expect(peak - before).toBeLessThan(BOUND);

  // One of them reads again, and has lost nothing.
  const late = await digest(idle[0] as HttpAnswer);
  expect(late).toEqual(await whole.then(async () => digest(await open(-1))));
  for (const answer of idle) answer.destroy();
});

describe('those who dribble', () => {
  test('headers that do not end, and silent connections, are cut off after ten seconds', async () => {
    await Promise.all([...dribblers.headers, ...dribblers.silent].map(({ closed }) => closed));
    for (const { text } of dribblers.headers) expect(text).toMatch(TIMED_OUT);
  });

  test('messages that do not end are closed with 1008', async () => {
    await Promise.all(dribblers.fragments.map((peer) => peer.closed));
    for (const { bytes } of dribblers.fragments) expect(closeCode(bytes)).toBe(1008);
  });

  test('bodies that do not end are cut off after thirty', { timeout: 45_000 }, async () => {
    await Promise.all(dribblers.bodies.map(({ closed }) => closed));
    for (const { text } of dribblers.bodies) expect(text).toMatch(TIMED_OUT);
  });
});

test('who behaves was answered all the while', async () => {
  // How many there were by now is up to the machine.
  await expect.poll(() => good.waits.length).toBeGreaterThan(100);
  good.over.abort();
  await traffic;
  expect(good.wrong).toEqual([]);
  const slowest = good.waits.sort((a, b) => a - b).at(Math.floor(good.waits.length * 0.99)) ?? Infinity;
  process.stderr.write(`${good.waits.length} good requests, 99 % within ${Math.round(slowest)} ms\n`);
  expect(slowest).toBeLessThan(5_000);
  expect(system.log).not.toMatch(/"level":(?:50|60)/);
});

async function behave(): Promise<void> {
  for (let number = 0; !good.over.signal.aborted; number += 1) {
    const content = `word ${number}`;
    const json = { request_id: `good-${number}`, method: 'chat.send', params: { content } };
    const at = performance.now();
    const [text = ''] = await allFrames(await call(system.url, { method: 'POST', path: '/e2a', key: KEY, json }));
    good.waits.push(performance.now() - at);
    if (JSON.parse(text).body.result?.echoed !== content) good.wrong.push(text);
    await delay(20);
  }
}

async function isKnown(requestId: string): Promise<boolean> {
  const { status } = await call(system.url, { path: `/e2a/requests/${requestId}/responses`, key: KEY });
  return status !== 404;
}

/** The code the server closes with after hearing these frames. */
async function closeOf(frames: readonly Uint8Array[]): Promise<number | undefined> {
  using peer = await RawPeer.connect(port);
  peer.send(upgradeHead({ path: '/e2a/ws', host, fields: [AUTH] }));
  await peer.waitFor(/connection\.ack/);
  for (const bytes of frames) peer.send(bytes);
  await peer.closed;
  return closeCode(peer.bytes);
}

async function interrupt(intent: string): Promise<void> {
  const json: JsonObject = { method: 'chat.interrupt', session_id: 'flood', params: { intent } };
  await allFrames(await call(system.url, { method: 'POST', path: '/e2a', key: KEY, json }));
}

interface Digest {
  readonly hash: string;
  readonly frames: number;
}

/** Reads a stream to its end, and keeps only a digest to compare it with another. */
async function digest(answer: HttpAnswer): Promise<Digest> {
  const hash = createHash('sha1');
  let frames = 0;
  for await (const frame of answer.frames()) {
    hash.update(frame);
    frames += 1;
  }
  return { hash: hash.digest('hex'), frames };
}

const MIB = 1024 * 1024;
/** A peer that keeps sending while the connection is closed may not receive the reason: TCP resets unread data. */
const TIMED_OUT = /^(?:$|HTTP\/1\.1 408 )/;
/** A reader that does not read may cost 1 MiB, which is what it is promised; a thousand open streams cost 150 besides. */
const BOUND = (500 + 150) * MIB;
