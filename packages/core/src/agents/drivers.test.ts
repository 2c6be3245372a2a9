import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { type WebSocket, WebSocketServer } from 'ws';
import { listening } from '../../test-support/ports.ts';
import { AgentSocketHub } from './agent-socket-hub.ts';
import { type DriverUnderTest, describeDriver } from './driver.contract.ts';
import { behave, DIE, stop } from './fixtures/behaviours.mjs';
import { openAgent } from './open-agent.ts';

describeDriver(moduleDriver());
describeDriver(httpDriver('NDJSON', 'application/x-ndjson', (text) => `${text}\n`));
describeDriver(httpDriver('SSE', 'text/event-stream; charset=utf-8', (text) => `event: frame\ndata: ${text}\n\n`));
describeDriver(stdioDriver());
describeDriver(socketDriver());
describeDriver(hubDriver());

function moduleDriver(): DriverUnderTest {
  return {
    name: 'module',
    reach: 'inside',
    open: (context) =>
      openAgent('agent', { driver: 'module', module: fixture('module-agent.mjs') }, { ...context, folder: '' }),
    close: async () => {},
  };
}

function httpDriver(name: string, type: string, framed: (text: string) => string): DriverUnderTest {
  let server: Server;
  const answer = async (envelope: JsonObject, response: ServerResponse) => {
    response.on('close', () => stop(envelope['request_id']));
    response.writeHead(200, { 'content-type': type });
    for await (const text of behave(envelope)) {
      if (response.destroyed) return;
      if (text === DIE) return void response.destroy();
      if (!response.write(framed(text))) await drained(response);
    }
    response.end();
  };
  return {
    name: `http (${name})`,
    reach: 'each',
    async open(context) {
      server = createServer(async (request, response) => {
        let body = '';
        for await (const part of request) body += part;
        await answer(objectOf(body), response);
      });
      const url = `http://127.0.0.1:${await listening(server)}/e2a`;
      return openAgent('agent', { driver: 'http', url }, { ...context, folder: '' });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function stdioDriver(): DriverUnderTest {
  let folder = '';
  return {
    name: 'stdio',
    reach: 'all',
    open(context) {
      folder = mkdtempSync(join(tmpdir(), 'dragoman-'));
      const args = [fixture('stdio-agent.mjs')];
      return openAgent('agent', { driver: 'stdio', command: process.execPath, args }, { ...context, folder });
    },
    close: async () => rmSync(folder, { recursive: true }),
  };
}

function socketDriver(): DriverUnderTest {
  let server: WebSocketServer;
  return {
    name: 'e2a-ws',
    reach: 'all',
    async open(context) {
      server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
      server.on('connection', serve);
      await new Promise((resolve) => server.once('listening', resolve));
      const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`;
      return openAgent('agent', { driver: 'e2a-ws', url }, { ...context, folder: '' });
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The agent dials in, and again each time it has died. */
function hubDriver(): DriverUnderTest {
  const open = new Set<Pipe>();
  return {
    name: 'e2a-ws (dialled in)',
    reach: 'all',
    open(context) {
      const hub = new AgentSocketHub(context);
      const dial = () => {
        const pipe = new Pipe();
        open.add(pipe);
        void hub.attach('agent', pipe).then(() => open.delete(pipe) && dial());
      };
      dial();
      return openAgent('agent', { driver: 'e2a-ws' }, { ...context, folder: '', hub });
    },
    async close() {
      const pipes = [...open];
      open.clear();
      for (const pipe of pipes) pipe.close();
    },
  };
}

/** A connection from the hub's point of view, with an agent at its other end. */
class Pipe {
  readonly #gone = new AbortController();
  readonly #texts: string[] = [];
  #wake = () => {};
  readonly signal = this.#gone.signal;
  readonly messages = this.#read();

  async send(text: string): Promise<void> {
    const room = () => (this.#texts.length > 4 ? new Promise<void>((resolve) => setImmediate(resolve)) : undefined);
    void answerTo(objectOf(text), {
      say: (frame) => {
        this.#texts.push(frame);
        this.#wake();
      },
      room,
      die: () => this.close(),
    });
  }

  close(): void {
    this.#gone.abort();
    this.#wake();
  }

  async *#read(): AsyncGenerator<string> {
    for (;;) {
      const text = this.#texts.shift();
      if (text !== undefined) yield text;
      else if (this.#gone.signal.aborted) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}

function serve(socket: WebSocket): void {
  socket.send(JSON.stringify({ type: 'event', event: 'connection.ack', payload: { status: 'ready' } }));
  socket.on('error', () => {});
  socket.on('message', (data) => {
    void answerTo(objectOf(data.toString()), {
      say: (text) => socket.send(text, () => {}),
      room: () =>
        socket.bufferedAmount > 1_000_000 ? new Promise<void>((resolve) => setImmediate(resolve)) : undefined,
      die: () => socket.terminate(),
    });
  });
}

interface Mouth {
  say(text: string): void;
  room(): Promise<void> | undefined;
  die(): void;
}

async function answerTo(envelope: JsonObject, { say, room, die }: Mouth): Promise<void> {
  const { params, method } = envelope;
  if (method === 'chat.interrupt' && isObject(params)) return stop(params['request_id']);
  for await (const text of behave(envelope)) {
    if (text === DIE) return die();
    say(text);
    for (let wait = room(); wait !== undefined; wait = room()) await wait;
  }
}

function objectOf(text: string): JsonObject {
  const json = JSON.parse(text) as Json;
  if (!isObject(json)) throw new Error('an envelope is an object');
  return json;
}

function drained(response: ServerResponse): Promise<unknown> {
  return new Promise<void>((resolve) => {
    const go = () => {
      response.off('drain', go);
      response.off('close', go);
      resolve();
    };
    response.on('drain', go);
    response.on('close', go);
  });
}

function fixture(name: string): string {
  return fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
}
