import { afterAll, describe, expect, test } from 'vitest';
import { closeCode, frame, readFrames, upgradeHead } from '../../packages/server/src/edges/harness.contract.ts';
import { WEBSOCKET_FAULTS } from '../../packages/server/src/edges/websocket-faults.contract.ts';
import { RawPeer } from './raw-peer.ts';
import { agentModule, System } from './system.ts';

// RFC 6455 on the real server, at every door that is a WebSocket: those who break it, and one beside them who does not.

const system = await System.start({
  config: { default_agent: 'echo', agents: { echo: { driver: 'module', module: agentModule('echo') } } },
});
afterAll(() => system[Symbol.asyncDispose]());
const { api_key: key } = await system.caller('ada-agent', { permissions: { agents: ['*'], tools: ['*'] } });
const { host, port } = system;

/** What opens each door, and something that is answered there at any time. */
const DOORS: Readonly<Record<string, { hello: string; ask: (id: string) => string }>> = {
  '/e2a/ws': {
    hello: '',
    ask: chat,
  },
  '/a2e/ws': {
    hello: JSON.stringify({ a2e: '1.0', type: 'handshake/req', id: 'hello', ts: 1, auth_token: key }),
    ask: (id) => JSON.stringify({ a2e: '1.0', type: 'ping', id, ts: 1 }),
  },
};

async function upgraded(path: string): Promise<RawPeer> {
  const peer = await RawPeer.connect(port);
  peer.say(upgradeHead({ path, host, fields: [`Authorization: Bearer ${key}`] }));
  await peer.hears(/\r\n\r\n/);
  const { hello = '' } = DOORS[path] ?? {};
  if (hello === '') return peer;
  peer.say(frame({ payload: hello }));
  await peer.hears(/handshake\/resp/);
  return peer;
}

function chat(id: string): string {
  return JSON.stringify({ request_id: id, method: 'chat.send', params: { content: id } });
}

describe.each(Object.entries(DOORS))('%s', async (path, { ask }) => {
  const good = await upgraded(path);
  let asked = 0;
  const isServed = async () => {
    asked += 1;
    good.say(frame({ payload: ask(`good-${asked}`) }));
    await good.hears(new RegExp(`good-${asked}\\b`));
  };

  test.each(WEBSOCKET_FAULTS)('%s is closed with its code, and nobody else', async (_, bytes, code) => {
    using peer = await upgraded(path);
    peer.say(bytes);
    await expect.poll(() => closeCode(peer.bytes)).toBe(code);
    await isServed();
  });

  test.each([
    ['a ping inside a message', [frame({ fin: false, payload: '' }), frame({ opcode: 9, payload: 'p' })], 10],
    ['a close with a code of the peer\u2019s own', [frame({ opcode: 8, payload: Buffer.from([0x0f, 0xa0]) })], 8],
  ])('%s is no fault', async (_, frames, opcode) => {
    using peer = await upgraded(path);
    for (const bytes of frames) peer.say(bytes);
    await expect.poll(() => readFrames(peer.bytes).some((heard) => heard.opcode === opcode)).toBe(true);
    expect([undefined, 4000]).toContain(closeCode(peer.bytes));
  });

  test.each([
    [10_000, 'fragments of a byte', frame({ opcode: 0, fin: false, payload: 'x' })],
    [10_000, 'fragments of nothing', frame({ opcode: 0, fin: false })],
    [1_000, 'pings that carry all they may', frame({ opcode: 9, payload: 'x'.repeat(125) })],
  ])('%i %s from a hundred at once cost no memory', async (count, _, one) => {
    const before = system.residentBytes;
    const bytes = Buffer.concat([frame({ fin: false, payload: 'x' }), ...Array(count).fill(one)]);
    const peers = await Promise.all(Array.from({ length: 100 }, () => upgraded(path)));
    // They hear nothing either, so that what they are owed would have to be kept for them.
    for (const { socket } of peers) socket.pause();
    for (const peer of peers) peer.say(bytes);
    await isServed();
    for (const { socket } of peers) socket.resume();
    await Promise.all(peers.map(({ closed }) => closed));
    // Who goes on talking while the connection is closed may not hear why: TCP resets what was not read.
    for (const peer of peers) expect([1008, undefined]).toContain(closeCode(peer.bytes));
    expect(system.residentBytes - before).toBeLessThan(64 * MIB);
    await isServed();
  });

  test('ten thousand messages of a byte from a hundred who read nothing cost no more than their buffers', async () => {
    const before = system.residentBytes;
    const bytes = Buffer.concat(Array(10_000).fill(frame({ payload: 'x' })));
    const peers = await Promise.all(Array.from({ length: 100 }, () => upgraded(path)));
    for (const { socket } of peers) socket.pause();
    for (const peer of peers) peer.say(bytes);
    await isServed();
    for (const peer of peers) peer[Symbol.dispose]();
    await isServed();
    expect(system.residentBytes - before).toBeLessThan(200 * MIB);
  });
});

test('who sends a thousand messages in a row that are no envelopes is put out of /e2a/ws, and nobody sooner', async () => {
  using peer = await upgraded('/e2a/ws');
  const nonsense = (count: number) => Buffer.concat(Array(count).fill(frame({ payload: '{}x' })));
  peer.say(Buffer.concat([nonsense(999), frame({ payload: chat('sense') }), nonsense(999)]));
  peer.say(frame({ payload: chat('still') }));
  await peer.hears(/"still"/);
  expect(closeCode(peer.bytes)).toBeUndefined();
  peer.say(nonsense(1000));
  await expect.poll(() => closeCode(peer.bytes)).toBe(1008);
});

const MIB = 1024 * 1024;
