import { createHash, createPublicKey, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { request, signed, signingCaller } from '../system/a2a-peer.ts';
import { TRANSPORTS, wordOf } from '../system/a2a-transports.ts';
import { call } from '../system/call.ts';
import { agentModule, System } from '../system/system.ts';

const MIB = 1024 * 1024;
const repeated = (unit: string, bytes: number) =>
  Array(Math.floor(bytes / (unit.length + 1)))
    .fill(unit)
    .join(',');

/** JSON texts that cost more to read than they look. */
function hostileTexts(bytes: number): Readonly<Record<string, string>> {
  const long = 'x'.repeat(bytes);
  return {
    'nested arrays': `[${repeated('[]', bytes)}]`,
    'deep nesting': '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
    'very many keys': `{${Array.from({ length: bytes / 12 }, (_, at) => `"k${at}":0`).join(',')}}`,
    'objects with a key of their own each': `[${Array.from({ length: bytes / 14 }, (_, at) => `{"k${at}":0}`).join(',')}]`,
    'a string of escapes': `"${'\\u00e9'.repeat(bytes / 6)}"`,
    'a huge number': '9'.repeat(bytes),
    'many long numbers': `[${repeated('0.12345678901234567', bytes)}]`,
    'a repeated key at the end': `{"a":"${long}","b":1,"b":2}`,
    'a string that does not end': `"${long}`,
    'as many values as are taken': `[${repeated('[]', 400_000)},"${'x'.repeat(bytes - 400_000)}"]`,
  };
}

/** Answers every request with the text that a test sets. */
const foreign = { frame: '' };
const agent = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(foreign.frame);
});
agent.listen(0, '127.0.0.1');
await once(agent, 'listening');
const { port: agentPort } = agent.address() as AddressInfo;

const system = await System.start({
  config: {
    default_agent: 'echo',
    agents: {
      echo: { driver: 'module', module: agentModule('echo') },
      foreign: { driver: 'http', url: `http://127.0.0.1:${agentPort}/` },
    },
    messages: { port: 0, unproven_per_minute: 100_000 },
    wire: { port: 0 },
    // Larger than by default, so that every endpoint is offered messages of some megabytes.
    limits: { requests_per_minute: 1_000_000, requests_per_hour: 1_000_000, body_bytes: 8 * MIB },
  },
});
const ada = await signingCaller(system, 'ada-agent');
const fingerprint = `sha256:${createHash('sha256')
  .update(createPublicKey(ada.pem).export({ format: 'der', type: 'spki' }))
  .digest('hex')}`;

/** A client that requests the health of the server, one request after the other. */
const prober = { answers: 0, isOver: false };
const probing = (async () => {
  while (!prober.isOver) {
    const answer = await call(system.url, { path: '/health' });
    await answer.text();
    if (answer.status !== 200) throw new Error(`/health answered ${answer.status}`);
    prober.answers += 1;
  }
})();

afterAll(async () => {
  prober.isOver = true;
  await probing;
  agent.close();
  await system[Symbol.asyncDispose]();
});

function threads(): string[] {
  return readdirSync(`/proc/${system.pid}/task`);
}

/** Processor time that a thread has had, in milliseconds: others on the machine do not change it. */
function threadMs(id: number | string): number {
  const [ran = ''] = readFileSync(`/proc/${system.pid}/task/${id}/schedstat`, 'utf8').split(' ');
  return Number(ran) / 1e6;
}

/** The main thread of the process. */
const eventLoopMs = () => threadMs(system.pid);

/** The thread that checks long texts: the first one starts it. A thread without work has no processor time. */
const reader = await (async () => {
  const before = new Set(threads());
  const json = { method: 'chat.send', params: { content: 'x'.repeat(100_000) } };
  const answer = await call(system.url, { method: 'POST', path: '/e2a', key: ada.api_key, json });
  expect(answer.status, await answer.text()).toBe(200);
  const [started = '', ...others] = threads().filter((id) => !before.has(id));
  expect(others).toEqual([]);
  return started;
})();

/** The cost of one answer to the prober without other requests. */
const probeMs = await (async () => {
  const before = { ms: eventLoopMs(), answers: prober.answers };
  while (prober.answers < before.answers + 300) await call(system.url, { path: '/health' }).then((one) => one.text());
  return (eventLoopMs() - before.ms) / 600;
})();

/** What the event loop and the thread for long texts spend on this. */
async function cost<Result>(of: () => Promise<Result>): Promise<{ result: Result; ms: number; readerMs: number }> {
  const before = { readerMs: await settled(reader), ms: eventLoopMs(), answers: prober.answers };
  const result = await of();
  const ms = eventLoopMs() - before.ms - (prober.answers - before.answers) * probeMs;
  return { result, ms, readerMs: threadMs(reader) - before.readerMs };
}

/** The processor time of a thread when it has nothing to do. */
async function settled(id: string): Promise<number> {
  for (let before = -1; ; ) {
    const now = threadMs(id);
    if (now === before) return now;
    before = now;
    await (await call(system.url, { path: '/health' })).text();
  }
}

/** A message that is as it should be, but for its signature and what it holds. */
function forged(parameters: string): string {
  const auth = {
    agent_id: ada.agentId,
    timestamp: new Date().toISOString(),
    nonce: randomBytes(16).toString('hex'),
    signature: randomBytes(64).toString('base64'),
    public_key_fingerprint: fingerprint,
  };
  const { payload, ...head } = request({ content: 'PLACE' });
  // The claimed sender stands first: the rest is read as that agent's.
  const text = JSON.stringify({ ...head, sender_id: ada.agentId, auth, payload });
  return text.replace('"PLACE"', parameters);
}

/** For reading 6 MiB off a socket and refusing them, or handling them where they are good; parsing alone could take seconds. */
const MOST_MS = 400;

describe.each(Object.entries(hostileTexts(6 * MIB)))('%s', (_, text) => {
  test.each(['websocket', 'tcp'] as const)('cost little in a forged A2A message over %s', async (transport) => {
    const { result, ms } = await cost(() => TRANSPORTS[transport](system, forged(text), undefined));
    expect(wordOf(result)).not.toBe('response');
    expect(ms).toBeLessThan(MOST_MS);
  });

  test.each([
    ['the name of a known key', undefined],
    ['an API key', ada.api_key],
  ])('are read in the thread in a forged A2A message over HTTP with %s', async (_, key) => {
    const { result, ms, readerMs } = await cost(() => TRANSPORTS.http(system, forged(text), key));
    expect(wordOf(result)).not.toBe('response');
    expect(ms).toBeLessThan(MOST_MS);
    expect(readerMs).toBeGreaterThan(0);
  });

  test('are read in the thread in an envelope over HTTP and a WebSocket', async () => {
    const envelope = `{"method":"chat.send","params":{"content":${text}}}`;
    const overHttp = await cost(async () => {
      const headers = { 'content-type': 'application/json' };
      const answer = await call(system.url, {
        method: 'POST',
        path: '/e2a',
        key: ada.api_key,
        text: envelope,
        headers,
      });
      return answer.text();
    });
    expect(overHttp.ms).toBeLessThan(MOST_MS);
    expect(overHttp.readerMs).toBeGreaterThan(0);
    const overSocket = await cost(() => answerOverSocket(envelope));
    expect(overSocket.ms).toBeLessThan(MOST_MS);
    expect(overSocket.readerMs).toBeGreaterThan(0);
  });

  test('are read in the thread in a message of the wire', async () => {
    const { ms, readerMs } = await cost(() =>
      answerOnWire(`{"a2e":"1.0","type":"ping","id":"hostile","ts":1,"x":${text}}`),
    );
    expect(ms).toBeLessThan(MOST_MS);
    expect(readerMs).toBeGreaterThan(0);
  });

  test('are read in the thread in the answer of an agent', async () => {
    foreign.frame = `{"response_kind":"e2a.complete","is_final":true,"status":"succeeded","body":{"result":${text}}}`;
    const { ms, readerMs } = await cost(async () => {
      const json = { request_id: randomBytes(8).toString('hex'), method: 'chat.send', params: {} };
      const answer = await call(system.url, { method: 'POST', path: '/e2a/agents/foreign', key: ada.api_key, json });
      return answer.text();
    });
    expect(ms).toBeLessThan(MOST_MS);
    expect(readerMs).toBeGreaterThan(0);
  });
});

test('a long message with a good signature is answered over every transport', async () => {
  const content = 'word '.repeat(40_000).trim();
  // Over HTTP its first bytes name its sender; a WebSocket has been opened with a key.
  for (const [name, key] of [
    ['http', undefined],
    ['websocket', ada.api_key],
  ] as const) {
    const message = () => {
      const { payload, ...head } = signed(ada, request({ content }) as JsonObject, {
        public_key_fingerprint: fingerprint,
      });
      return JSON.stringify({ ...head, payload });
    };
    expect(wordOf(await TRANSPORTS[name](system, message(), key)), name).toBe('response');
    const changed = message().replace('word word', 'word ward');
    expect(wordOf(await TRANSPORTS[name](system, changed, key)), name).not.toBe('response');
  }
});

test('all of it took little memory, and the prober was answered all the while', () => {
  expect(system.residentBytes).toBeLessThan(900 * MIB);
  expect(prober.answers).toBeGreaterThan(100);
});

/** The first frame that answers an envelope. */
async function answerOverSocket(text: string): Promise<string> {
  const headers = { authorization: `Bearer ${ada.api_key}` };
  const socket = new WebSocket(`${system.url.replace('http', 'ws')}/e2a/ws`, { headers });
  const answered = new Promise<string>((resolve) => {
    let count = 0;
    socket.on('message', (data) => {
      count += 1;
      // The first is the greeting.
      if (count === 2) resolve(String(data));
    });
    socket.on('close', () => resolve('closed'));
  });
  await once(socket, 'open');
  socket.send(text);
  const frame = await answered;
  socket.terminate();
  return frame;
}

/** The wire's answer to a line after the handshake. */
async function answerOnWire(line: string): Promise<string> {
  const { hostname, port } = new URL(system.wireUrl);
  const socket = connect(Number(port), hostname);
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const hello = { a2e: '1.0', type: 'handshake/req', id: 'hello', ts: 1, auth_token: ada.api_key };
  socket.write(`${JSON.stringify(hello)}\n`);
  const { value: welcome } = await lines.next();
  expect(welcome).toContain('"ok":true');
  socket.write(`${line}\n`);
  const { value } = await lines.next();
  socket.destroy();
  return String(value);
}
