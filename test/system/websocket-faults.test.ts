import { afterAll, describe, expect, test } from 'vitest';
import { closeCode, frame, readFrames, upgradeHead } from '../../packages/server/src/edges/harness.contract.ts';
import { WEBSOCKET_FAULTS } from '../../packages/server/src/edges/websocket-faults.contract.ts';
import { RawPeer } from './raw-peer.ts';
import { agentModule, System } from './system.ts';

// RFC 6455 on the real server, at every WebSocket endpoint: clients that break it, and one beside them that does not.

const system = await System.start({
  config: { default_agent: 'echo', agents: { echo: { driver: 'module', module: agentModule('echo') } } },
});
afterAll(() => system[Symbol.asyncDispose]());
const { api_key: key } = await system.caller('ada-agent', { permissions: { agents: ['*'], tools: ['*'] } });
const { host, port } = system;

/** The opening message of each endpoint, and a request that is always answered there. */
const ENDPOINTS: Readonly<Record<string, { hello: string; ask: (id: string) => string }>> = {
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
  peer.send(upgradeHead({ path, host, fields: [`Authorization: Bearer ${key}`] }));
  await peer.waitFor(/\r\n\r\n/);
  const { hello = '' } = ENDPOINTS[path] ?? {};
  if (hello === '') return peer;
  peer.send(frame({ payload: hello }));
  await peer.waitFor(/handshake\/resp/);
  return peer;
}

function chat(id: string): string {
  return JSON.stringify({ request_id: id, method: 'chat.send', params: { content: id } });
}

describe.each(Object.entries(ENDPOINTS))('%s', async (path, { ask }) => {
  const good = await upgraded(path);
  let requests = 0;
  const isServed = async () => {
    requests += 1;
    good.send(frame({ payload: ask(`good-${requests}`) }));
    await good.waitFor(new RegExp(`good-${requests}\\b`));
  };

  test.each(WEBSOCKET_FAULTS)('%s is closed with its code, and no other connection', async (_, bytes, code) => {
    using peer = await upgraded(path);
    peer.send(bytes);
    await expect.poll(() => closeCode(peer.bytes)).toBe(code);
    await isServed();
  });

  test.each([
    ['a ping inside a message', [frame({ fin: false, payload: '' }), frame({ opcode: 9, payload: 'p' })], 10],
    ['a close with a code of the peer\u2019s own', [frame({ opcode: 8, payload: Buffer.from([0x0f, 0xa0]) })], 8],
  ])('%s is not a fault', async (_, frames, opcode) => {
    using peer = await upgraded(path);
    for (const bytes of frames) peer.send(bytes);
    await expect.poll(() => readFrames(peer.bytes).some((received) => received.opcode === opcode)).toBe(true);
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
    // They read nothing either, so that their answers would have to be kept for them.
    for (const { socket } of peers) socket.pause();
    for (const peer of peers) peer.send(bytes);
    await isServed();
    for (const { socket } of peers) socket.resume();
    await Promise.all(peers.map(({ closed }) => closed));
    // A peer that keeps sending while the connection is closed may not receive the reason: TCP resets unread data.
    for (const peer of peers) expect([1008, undefined]).toContain(closeCode(peer.bytes));
    expect(system.residentBytes - before).toBeLessThan(64 * MIB);
    await isServed();
  });

  test('ten thousand messages of a byte from a hundred peers that read nothing cost only their buffers', async () => {
    const before = system.residentBytes;
    const bytes = Buffer.concat(Array(10_000).fill(frame({ payload: 'x' })));
    const peers = await Promise.all(Array.from({ length: 100 }, () => upgraded(path)));
    for (const { socket } of peers) socket.pause();
    for (const peer of peers) peer.send(bytes);
    await isServed();
    for (const peer of peers) peer[Symbol.dispose]();
    await isServed();
    expect(system.residentBytes - before).toBeLessThan(200 * MIB);
  });
});

test('a client that sends a thousand invalid messages in a row is disconnected from /e2a/ws, and none sooner', async () => {
  using peer = await upgraded('/e2a/ws');
  const nonsense = (count: number) => Buffer.concat(Array(count).fill(frame({ payload: '{}x' })));
  peer.send(Buffer.concat([nonsense(999), frame({ payload: chat('sense') }), nonsense(999)]));
  peer.send(frame({ payload: chat('still') }));
  await peer.waitFor(/"still"/);
  expect(closeCode(peer.bytes)).toBeUndefined();
  peer.send(nonsense(1000));
  await expect.poll(() => closeCode(peer.bytes)).toBe(1008);
});

const MIB = 1024 * 1024;
