import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { eventually, failureIn, resultIn, TestContext } from './call.contract.ts';
import { E2aWsAgent } from './e2a-ws-agent.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const ACK = JSON.stringify({ type: 'event', event: 'connection.ack', payload: { status: 'ready' } });
const LOST = 'the agent is not connected; dialling again';
let context: TestContext;
let server: AgentServer;
const agents: E2aWsAgent[] = [];

beforeEach(async () => {
  context = new TestContext();
  server = new AgentServer();
  await server.listen(0);
});
afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent[Symbol.asyncDispose]()));
  await server.close();
});

describe('the greeting', () => {
  test('is waited for', async () => {
    server.greets = false;
    const answer = context.ask(dial(), 'x');
    await eventually(() => server.sockets.length).toBe(1);
    expect(server.received).toBe(0);
    server.sockets[0]?.send(ACK);
    expect(resultIn(await answer)).toBe('done');
    expect(context.logged).toEqual([]);
  });

  test('that is missing is only a warning', async () => {
    server.greets = false;
    const answer = context.ask(dial(), 'x');
    await eventually(() => context.clock.waiting).toBe(2);
    context.clock.pass(5000);
    expect(resultIn(await answer)).toBe('done');
    expect(context.logged).toEqual(['the agent did not greet with connection.ack; continuing without it']);
  });
});

describe('a connection', () => {
  test('is opened before the first request, and names its origin', async () => {
    dial();
    await eventually(() => server.origins).toEqual([`http://127.0.0.1:${server.port}`]);
  });

  test('that is lost is dialled again by itself, after a while', async () => {
    dial();
    await eventually(() => server.sockets.length).toBe(1);
    await eventually(() => context.clock.waiting).toBe(1);
    server.sockets[0]?.terminate();
    await eventually(() => context.logged).toEqual([LOST]);
    expect(server.sockets).toHaveLength(1);
    context.clock.pass(1000);
    await eventually(() => server.sockets.length).toBe(2);
  });

  test('that fails is tried again after 1, 2, 4 … seconds, and at once for a request', async () => {
    const { port } = server;
    await server.close();
    const agent = dial(port);
    for (const seconds of [1, 2, 4]) {
      await eventually(() => context.log.lines.at(-1)?.fields['delay_ms']).toBe(seconds * 1000);
      context.clock.pass(seconds * 1000);
    }
    await eventually(() => context.logged.length).toBe(4);
    expect(failureIn(await context.ask(agent, 'x'))).toMatchObject({
      code: 'agent_failed',
      retryable: true,
      message: 'The agent cannot be reached: connection refused.',
    });
    await server.listen(port);
    expect(resultIn(await context.ask(agent, 'x'))).toBe('done');
    expect(context.logged).toHaveLength(4);
  });

  test('whose peer is silent for a whole beat is closed', async () => {
    server.answersPings = false;
    // A request first: until the agent has greeted, the dialling waits.
    await context.ask(dial(), 'x');
    await eventually(() => context.clock.waiting).toBe(1);
    context.clock.pass(30_000);
    await eventually(() => server.pings).toBe(1);
    await eventually(() => context.clock.waiting).toBe(1);
    context.clock.pass(30_000);
    await eventually(() => context.logged).toEqual([LOST]);
  });

  test('is kept while its peer answers', async () => {
    const agent = dial();
    for (let beat = 1; beat <= 4; beat++) {
      expect(resultIn(await context.ask(agent, 'x'))).toBe('done');
      context.clock.pass(30_000);
      await eventually(() => server.pings).toBe(beat);
      await eventually(() => context.clock.waiting).toBe(1);
    }
    expect(server.sockets).toHaveLength(1);
  });

  test('is closed with the agent, and leaves nothing behind', async () => {
    const agent = dial();
    await context.ask(agent, 'x');
    await agent[Symbol.asyncDispose]();
    await eventually(() => server.closeCodes).toEqual([1000]);
    expect(context.clock.waiting).toBe(0);
    expect(failureIn(await context.ask(agent, 'x'))?.message).toBe('The agent was stopped.');
  });

  test('that is refused is reported with the status', async () => {
    const http = createServer((_, response) => response.writeHead(401).end());
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const agent = dial((http.address() as AddressInfo).port);
    const failure = failureIn(await context.ask(agent, 'x'));
    expect(failure?.message).toContain('it answered 401 to a WebSocket handshake');
    http.close();
  });
});

test('an endless frame ends the connection, and every request on it fails with the reason', async () => {
  const agent = dial();
  await context.ask(agent, 'x');
  server.answers = false;
  const answers = [context.ask(agent, 'x'), context.ask(agent, 'x')];
  await eventually(() => server.received).toBe(3);
  server.sockets[0]?.send('x'.repeat(65 * 1024 * 1024), () => {});
  for (const answer of answers) {
    expect(failureIn(await answer)).toMatchObject({
      retryable: true,
      message:
        'The connection to the agent was lost before it had answered: it sent more than 67108864 bytes in one frame.',
    });
  }
});

test('binary messages are logged and ignored', async () => {
  const agent = dial();
  await context.ask(agent, 'x');
  server.sockets[0]?.send(Buffer.from('{}'), { binary: true });
  expect(resultIn(await context.ask(agent, 'x'))).toBe('done');
  expect(context.log.lines.map((line) => line.fields['code'])).toEqual(['not_text']);
});

function dial(port = server.port): E2aWsAgent {
  const { clock, ids, log } = context;
  const url = new URL(`ws://127.0.0.1:${port}/e2a/ws`);
  const gate = context.gate.allowing([{ host: '127.0.0.1', port }]);
  const agent = new E2aWsAgent({ id: 'agent', url, gate, clock, ids, log });
  agents.push(agent);
  return agent;
}

/** Answers everything with `done`. */
class AgentServer {
  greets = true;
  answersPings = true;
  answers = true;
  received = 0;
  pings = 0;
  port = 0;
  readonly sockets: WebSocket[] = [];
  readonly origins: (string | undefined)[] = [];
  readonly closeCodes: number[] = [];
  #server: WebSocketServer | undefined;

  async listen(port: number): Promise<void> {
    const server = new WebSocketServer({ port, host: '127.0.0.1', autoPong: false });
    this.#server = server;
    server.on('connection', (socket, request) => {
      this.sockets.push(socket);
      this.origins.push(request.headers.origin);
      if (this.greets) socket.send(ACK);
      socket.on('ping', () => {
        this.pings++;
        if (this.answersPings) socket.pong();
      });
      socket.on('close', (code) => this.closeCodes.push(code));
      socket.on('message', (data) => {
        this.received++;
        if (!this.answers) return;
        const { request_id } = JSON.parse(data.toString()) as { request_id: string };
        socket.send(JSON.stringify({ request_id, response_kind: 'e2a.complete', body: { result: 'done' } }));
      });
    });
    await new Promise((resolve) => server.once('listening', resolve));
    this.port = (server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.terminate();
    await new Promise<void>((resolve) =>
      this.#server === undefined ? resolve() : this.#server.close(() => resolve()),
    );
    this.#server = undefined;
  }
}
