import { generateKeyPairSync, type KeyObject, randomBytes, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type A2AMessage, signedContent } from '@dragoman/protocols/a2a-messages';
import { WebSocket, WebSocketServer } from 'ws';
import { endAll, forkPart, nextMessage } from '../support/child.ts';
import { median } from '../support/measure.ts';

/** How long one message of a kind held the event loop of the server, in milliseconds: the worst of its texts. */
export interface Held {
  readonly kind: string;
  /** Of processor time: the longest it can have been held, however busy the machine is. */
  readonly ms: number;
  /** By the clock. */
  readonly elapsedMs: number;
}

/**
 * Sends messages with about as many bytes and values as are accepted, one after the other. Each is sent several times and the
 * median counts: the machine may hold the server up as well.
 */
export async function heldByLargeMessages(folder: string): Promise<readonly Held[]> {
  const file = join(folder, 'large.json');
  writeFileSync(file, '{}');
  const peers = await answeringPeers();
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const program = fileURLToPath(new URL('./large-agent.mjs', import.meta.url));
  const agent = fileURLToPath(new URL('../support/agent.mjs', import.meta.url));
  const config = {
    default_agent: 'bench',
    agents: {
      bench: { driver: 'module', module: agent },
      http: { driver: 'http', url: `http://127.0.0.1:${peers.port}/` },
      stdio: { driver: 'stdio', command: process.execPath, args: [program, 'agent', file] },
      socket: { driver: 'e2a-ws', url: `ws://127.0.0.1:${peers.port}/` },
    },
    mcp_servers: { mcp: { command: process.execPath, args: [program, 'mcp', file] } },
    tools: [{ name: 'fetch', http: { url: `http://127.0.0.1:${peers.port}/tool` } }],
    gate: { allow: [`127.0.0.1:${peers.port}`] },
  };
  const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const args = [join(folder, 'large'), JSON.stringify(config), pem];
  const server = forkPart(new URL('./large-server.mjs', import.meta.url), args);
  try {
    const place = await nextMessage<Place>(server);
    const caller = { place, privateKey };
    const held: Held[] = [];
    for (const [kind, { bytes, send }] of Object.entries(KINDS)) {
      const found: Pick<Held, 'ms' | 'elapsedMs'>[] = [];
      for (const text of Object.values(textsOf(bytes))) {
        writeFileSync(file, text);
        peers.answer(text);
        const times: { heldMs: number; elapsedMs: number }[] = [];
        for (let count = 0; count < TIMES; count += 1) {
          server.send('reset');
          await nextMessage(server);
          await send(text, caller);
          // What follows the answer is the server's as well.
          await new Promise((resolve) => setTimeout(resolve, 50));
          server.send('report');
          times.push(await nextMessage(server));
        }
        const ms = median(times.map(({ heldMs }) => heldMs));
        found.push({ ms, elapsedMs: median(times.map(({ elapsedMs }) => elapsedMs)) });
      }
      const most = (figures: readonly number[]) => Math.max(...figures);
      held.push({
        kind,
        ms: most(found.map(({ ms }) => ms)),
        elapsedMs: most(found.map(({ elapsedMs }) => elapsedMs)),
      });
    }
    return held;
  } finally {
    await endAll([server]);
    peers.close();
  }
}

interface Place {
  readonly url: string;
  readonly wireUrl: string;
  readonly key: string;
}

interface Caller {
  readonly place: Place;
  readonly privateKey: KeyObject;
}

/** JSON of so many bytes with as many values as may be in it: arrays, objects, and one long text. */
function textsOf(bytes: number): Readonly<Record<string, string>> {
  const values = Math.min(199_900, Math.floor(bytes / 8) - 100);
  const filled = (list: string) => `{"list":[${list}],"text":"${'x'.repeat(bytes - list.length - 30)}"}`;
  return {
    arrays: filled(Array(values).fill('[]').join(',')),
    objects: filled(
      Array(values >> 1)
        .fill('{"a":0}')
        .join(','),
    ),
    text: `{"text":"${'é\\"\\n'.repeat(Math.floor(bytes / 7))}"}`,
  };
}

const KINDS: Readonly<
  Record<string, { readonly bytes: number; send(text: string, caller: Caller): Promise<unknown> }>
> = {
  'E2A over HTTP': { bytes: 1_000_000, send: (text, caller) => overHttp('/e2a', envelope(text), caller) },
  'E2A over WebSocket': { bytes: 8_300_000, send: (text, caller) => overSocket(envelope(text), caller) },
  'answer of an HTTP agent': { bytes: 8_300_000, send: (_, caller) => ask('http', caller) },
  'answer of a program': { bytes: 8_300_000, send: (_, caller) => ask('stdio', caller) },
  'answer of an agent over WebSocket': { bytes: 8_300_000, send: (_, caller) => ask('socket', caller) },
  'wire call over TCP': { bytes: 8_300_000, send: (text, caller) => onWire('nothing', text, caller) },
  'wire call over WebSocket': { bytes: 8_300_000, send: (text, caller) => onWireSocket('nothing', text, caller) },
  'answer of an MCP server': { bytes: 8_300_000, send: (_, caller) => onWire('mcp__large', '{}', caller) },
  'answer of an HTTP tool': { bytes: 5_000_000, send: (_, caller) => onWire('fetch', '{}', caller) },
  'A2A message': { bytes: 10_000_000, send: overMessages },
};

const envelope = (text: string) => `{"method":"chat.send","params":{"content":${text}}}`;

async function ask(agent: string, caller: Caller): Promise<void> {
  await overHttp(`/e2a/agents/${agent}`, '{"method":"chat.send","params":{}}', caller);
}

async function overHttp(path: string, body: string, { place }: Caller): Promise<void> {
  const headers = { authorization: `Bearer ${place.key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${place.url}${path}`, { method: 'POST', headers, body });
  const text = await answer.text();
  if (!answer.ok || !text.includes('succeeded')) throw new Error(`${path}: ${answer.status} ${text.slice(0, 300)}`);
}

async function overSocket(text: string, { place }: Caller): Promise<void> {
  const headers = { authorization: `Bearer ${place.key}` };
  const socket = new WebSocket(`${place.url.replace('http', 'ws')}/e2a/ws`, { headers });
  await once(socket, 'open');
  const ended = new Promise<void>((resolve, reject) => {
    socket.on('close', () => reject(new Error('the connection closed before the answer')));
    socket.on('message', (data) => {
      const received = String(data);
      if (received.includes('"succeeded"')) resolve();
      else if (received.includes('e2a.error')) reject(new Error(received.slice(0, 300)));
    });
  });
  socket.send(text);
  await ended.finally(() => socket.terminate());
}

const hello = ({ place }: Caller) => ({ a2e: '1.0', type: 'handshake/req', id: 'hello', ts: 1, auth_token: place.key });
const wireCall = (tool: string, args: string) =>
  `{"a2e":"1.0","type":"tool/call/req","id":"call","ts":1,"tool_name":"${tool}","arguments":${args}}`;

async function onWire(tool: string, args: string, caller: Caller): Promise<void> {
  const { hostname, port } = new URL(caller.place.wireUrl);
  const socket = connect(Number(port), hostname);
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  socket.write(`${JSON.stringify(hello(caller))}\n`);
  await lines.next();
  socket.write(`${wireCall(tool, args)}\n`);
  const { value } = await lines.next();
  socket.destroy();
  checkWire(tool, String(value));
}

async function onWireSocket(tool: string, args: string, caller: Caller): Promise<void> {
  const socket = new WebSocket(`${caller.place.url.replace('http', 'ws')}/a2e/ws`);
  await once(socket, 'open');
  socket.send(JSON.stringify(hello(caller)));
  await once(socket, 'message');
  socket.send(wireCall(tool, args));
  const [data] = await once(socket, 'message');
  socket.terminate();
  checkWire(tool, String(data));
}

/** A tool that is not there is refused when the whole message has been read. */
function checkWire(tool: string, received: string): void {
  const isExpected = tool === 'nothing' ? received.includes('not_found') : received.includes('"success":true');
  if (!isExpected) throw new Error(`wire: ${received.slice(0, 300)}`);
}

async function overMessages(text: string, { place, privateKey }: Caller): Promise<void> {
  const timestamp = new Date().toISOString();
  const message = {
    message_id: randomUUID(),
    message_type: 'request',
    sender_id: 'large-caller',
    recipient_id: 'bench',
    timestamp,
    payload: { method: 'say', parameters: { content: JSON.parse(text) } },
    correlation_id: null,
    auth: { agent_id: 'large-caller', timestamp, nonce: randomBytes(16).toString('hex'), signature: '' },
  };
  const content = signedContent(message as unknown as A2AMessage);
  if (!content.ok) throw new Error('no canonical form');
  message.auth.signature = sign(null, content.value.bytes, privateKey).toString('base64');
  const headers = { authorization: `Bearer ${place.key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${place.url}/a2a/messages`, { method: 'POST', headers, body: JSON.stringify(message) });
  const received = await answer.text();
  if (!received.includes('"response"')) throw new Error(`/a2a/messages: ${answer.status} ${received.slice(0, 300)}`);
}

/** An agent over HTTP and WebSocket and an endpoint for a tool, which answer with the text they were given last. */
async function answeringPeers() {
  let text = '{}';
  const frame = (id?: unknown) =>
    `{${id === undefined ? '' : `"request_id":${JSON.stringify(id)},`}"response_kind":"e2a.complete","is_final":true,"status":"succeeded","body":{"result":${text}}}`;
  const http = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(request.url === '/tool' ? text : frame());
  });
  const sockets = new WebSocketServer({ server: http });
  sockets.on('connection', (socket) => {
    socket.send('{"type":"event","event":"connection.ack","payload":{"status":"ready"}}');
    socket.on('message', (data) => socket.send(frame(JSON.parse(String(data)).request_id)));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    port: (http.address() as AddressInfo).port,
    answer: (next: string) => {
      text = next;
    },
    close: () => {
      for (const socket of sockets.clients) socket.terminate();
      http.close();
      http.closeAllConnections();
    },
  };
}

const TIMES = 5;
