import { createPublicKey } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { fingerprintOf } from '../../packages/core/src/signing/public-keys.ts';
import { closeCode, frame, head, upgradeHead } from '../../packages/server/src/edges/harness.contract.ts';
import { handshake, request, type SigningCaller, signed, signingCaller } from '../system/a2a-peer.ts';
import { call } from '../system/call.ts';
import { exchange, RawPeer } from '../system/raw-peer.ts';
import { agentModule, System } from '../system/system.ts';

const KIB = 1024;
const BOUND = 64 * KIB;
/** One address may hold a quarter of it. */
const TOTAL = 20 * BOUND;

const limits = {
  requests_per_minute: 1_000_000,
  requests_per_hour: 1_000_000,
  requests_per_day: 1_000_000,
  unproven_total_bytes: TOTAL,
  identify_ms: 60_000,
  message_ms: 60_000,
};
const system = await System.start({
  config: {
    default_agent: 'echo',
    agents: { echo: { driver: 'module', module: agentModule('echo') } },
    messages: { port: 0, require_signatures: true, unproven_per_minute: 1_000_000 },
    wire: { port: 0 },
    mailbox: { anonymous: ['echo'] },
    limits,
  },
});
const { host, port } = system;
const ada = await signingCaller(system, 'ada-agent');
const JSON_TYPE = 'Content-Type: application/json';

afterAll(() => system[Symbol.asyncDispose]());

function post(path: string, ...fields: string[]): string {
  return head({ method: 'POST', path, host, fields: [JSON_TYPE, ...fields] });
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

/** A message of about this many bytes, with who signed it before or behind its payload. */
function large(sender: SigningCaller, { bytes, isNamedFirst }: { bytes: number; isNamedFirst: boolean }): string {
  const fingerprint = fingerprintOf(createPublicKey(sender.pem));
  const { auth, payload, ...rest } = signed(sender, request({ content: 'x'.repeat(bytes) }), {
    public_key_fingerprint: fingerprint,
  });
  return JSON.stringify(isNamedFirst ? { ...rest, auth, payload } : { ...rest, payload, auth });
}

async function sendMessage(text: string, key?: string): Promise<{ status: number; body: string }> {
  const headers = { 'content-type': 'application/json' };
  const path = '/a2a/messages';
  const answer = await call(system.url, { method: 'POST', path, text, headers, ...(key !== undefined && { key }) });
  return { status: answer.status, body: await answer.text() };
}

describe('before the sender is proven, 64 KiB are read', () => {
  test.each(['/a2a', '/a2a/messages'])(
    'of a body with a length to %s, and the refusal says how to raise it',
    async (path) => {
      const received = await exchange(port, post(path, `Content-Length: ${BOUND + 1}`) + 'x'.repeat(BOUND + 1));
      expect(received).toMatch(/^HTTP\/1.1 413 /);
      expect(received).toMatch(/65536 bytes.*Send an API key/);
    },
  );

  test.each(['/a2a', '/a2a/messages'])('of a body in chunks to %s', async (path) => {
    using peer = await RawPeer.connect(port);
    peer.send(post(path, 'Transfer-Encoding: chunked'));
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    peer.send(chunk.repeat(5));
    expect(await peer.waitFor(/HTTP\/1.1 413 /)).toContain('Connection: close');
  });

  test('of a WebSocket message, at each endpoint that takes one without a key', async () => {
    for (const path of ['/a2a/messages/ws', '/a2e/ws']) {
      using peer = await RawPeer.connect(port);
      peer.send(upgradeHead({ path, host }));
      await peer.waitFor(/101 Switching/);
      // The rest is never sent: it is refused for its announced length, not when all of it has been read.
      peer.send(frame({ payload: 'x'.repeat(4 * BOUND) }).subarray(0, 3 * BOUND));
      await peer.closed;
      expect(closeCode(peer.bytes), path).toBe(1009);
    }
  });

  test('of a line on the TCP ports of A2A messages and of the A2E wire', async () => {
    for (const url of [system.messagesUrl, system.wireUrl]) {
      const received = await exchange(portOf(url), 'x'.repeat(BOUND + 1));
      expect(received, url).toMatch(/too_large|line_too_long|65536/);
    }
  });
});

describe('a cheap proof raises the limit', () => {
  test('a valid key does', async () => {
    const { status } = await sendMessage(large(ada, { bytes: 2 * BOUND, isNamedFirst: false }), ada.api_key);
    expect(status).toBe(200);
  });

  test('the id and the fingerprint of a registered key in the first 64 KiB do', async () => {
    const { status, body } = await sendMessage(large(ada, { bytes: 2 * BOUND, isNamedFirst: true }));
    expect(body).toContain('"message_type":"response"');
    expect(status).toBe(200);
  });

  test('the same behind the first 64 KiB do not, and the refusal says where they belong', async () => {
    const { status, body } = await sendMessage(large(ada, { bytes: 2 * BOUND, isNamedFirst: false }));
    expect(status).toBe(413);
    expect(body).toContain('public_key_fingerprint');
  });

  test('neither do those of an unknown agent, of another key, or without a signature that is good', async () => {
    const other = await signingCaller(system, 'bob-agent');
    const unknown = { ...ada, agentId: 'nobody-agent' };
    const wrongKey = { ...ada, pem: other.pem };
    for (const sender of [unknown, wrongKey]) {
      expect((await sendMessage(large(sender, { bytes: 2 * BOUND, isNamedFirst: true }))).status).toBe(413);
    }
    const forged = large({ ...other, agentId: 'ada-agent', pem: ada.pem }, { bytes: 2 * BOUND, isNamedFirst: true });
    expect((await sendMessage(forged)).status).toBe(401);
  });

  test('on a connection a small signed message does, however soon a long one follows it', async () => {
    const text = [JSON.stringify(signed(ada, handshake())), large(ada, { bytes: 2 * BOUND, isNamedFirst: false })];
    using lines = await RawPeer.connect(portOf(system.messagesUrl));
    lines.send(`${text.join('\n')}\n`);
    expect(await lines.waitFor(/"message_type":"response"/)).toContain('handshake');

    const again = [JSON.stringify(signed(ada, handshake())), large(ada, { bytes: 2 * BOUND, isNamedFirst: false })];
    using socket = await RawPeer.connect(port);
    socket.send(upgradeHead({ path: '/a2a/messages/ws', host }));
    await socket.waitFor(/101 Switching/);
    for (const payload of again) socket.send(frame({ payload }));
    await socket.waitFor(/"message_type":"response"/);
  });
});

test('a route that needs a key refuses before any of the body is sent', async () => {
  for (const path of ['/e2a', '/a2e/send', '/agents/register', '/admin/v1/agents', '/api/v1/workflows/execute']) {
    using peer = await RawPeer.connect(port);
    peer.send(post(path, `Content-Length: ${10 * KIB}`, 'Expect: 100-continue'));
    const received = await peer.waitFor(/\r\n\r\n/);
    expect(received, path).toMatch(/^HTTP\/1.1 401 /);
  }
});

describe('the memory for unproven peers has one budget', () => {
  /** All but the last byte of the largest that is taken. */
  const withheld: Record<string, () => Promise<RawPeer>> = {
    'HTTP bodies': async () => {
      const peer = await RawPeer.connect(port);
      peer.send(post('/a2a', `Content-Length: ${BOUND}`) + 'x'.repeat(BOUND - 1));
      return peer;
    },
    'WebSocket messages': async () => {
      const peer = await RawPeer.connect(port);
      peer.send(upgradeHead({ path: '/a2a/messages/ws', host }));
      await peer.waitFor(/101 Switching/);
      peer.send(frame({ payload: 'x'.repeat(BOUND) }).subarray(0, -1));
      return peer;
    },
    'A2A lines': async () => {
      const peer = await RawPeer.connect(portOf(system.messagesUrl));
      peer.send('x'.repeat(BOUND));
      return peer;
    },
    'wire lines': async () => {
      const peer = await RawPeer.connect(portOf(system.wireUrl));
      peer.send('x'.repeat(BOUND));
      return peer;
    },
  };

  /** The answer of a transport when there is no room. */
  function refusalOf({ text, bytes }: RawPeer): string {
    const isBusy = /^HTTP\/1.1 503 /.test(text) || closeCode(bytes) === 1013 || /busy/i.test(text);
    return isBusy ? 'busy' : text;
  }

  /** Whether an anonymous body finds room. */
  async function hasRoom(): Promise<boolean> {
    const received = await exchange(
      port,
      post('/a2a', 'Connection: close', `Content-Length: ${BOUND}`) + 'x'.repeat(BOUND),
    );
    return !received.startsWith('HTTP/1.1 503 ');
  }

  test.each(Object.keys(withheld))(
    '%s that never end use it up, and give it back when their peers leave',
    async (kind) => {
      await expect.poll(hasRoom).toBe(true);
      const peers: RawPeer[] = [];
      while (await hasRoom()) {
        const peer = await withheld[kind]?.();
        if (peer !== undefined) peers.push(peer);
        if (peers.length > 40) throw new Error(`${peers.length} peers and still room`);
      }
      const refused = await exchange(
        port,
        post('/a2a', 'Connection: close', `Content-Length: ${BOUND}`) + 'x'.repeat(BOUND),
      );
      expect(refused).toMatch(/^HTTP\/1.1 503 [\s\S]*Retry-After: 1\r\n/);
      // Callers with a key are not affected.
      expect((await sendMessage(large(ada, { bytes: BOUND, isNamedFirst: false }), ada.api_key)).status).toBe(200);
      for (const peer of peers) peer.socket.destroy();
      await expect.poll(hasRoom).toBe(true);
    },
  );

  test.each(Object.keys(withheld))('of many %s only those within it are kept', async (kind) => {
    await expect.poll(hasRoom).toBe(true);
    const peers: RawPeer[] = [];
    for (let count = 0; count < 20; count += 1) {
      const peer = await withheld[kind]?.();
      if (peer !== undefined) peers.push(peer);
    }
    await expect.poll(() => peers.filter(({ socket }) => socket.destroyed).length).toBeGreaterThanOrEqual(14);
    expect(peers.filter(({ socket }) => socket.destroyed).map(refusalOf)).toContain('busy');
    for (const peer of peers) peer.socket.destroy();
    await expect.poll(hasRoom).toBe(true);
  });
});
