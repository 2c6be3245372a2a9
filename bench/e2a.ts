// The E2A server against bare `node:http` doing the same JSON, in one run: durable unary requests, streamed durable
// frames, latency against one fsynced commit, start and memory. Everything runs on this machine, so ratios count.
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadEngine } from '../packages/core/src/store/sqlite-engine.ts';
import { HttpPeer, load } from './e2a/load.ts';
import { table } from './measure.ts';

export async function run(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const children: ChildProcess[] = [];
  const start = async (file: string, args: readonly string[] = []): Promise<Started> => {
    const path = fileURLToPath(new URL(`./e2a/${file}`, import.meta.url));
    const child = fork(path, args, { execArgv: ['--expose-gc'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    children.push(child);
    return { child, ...(await nextMessage(child)) } as Started;
  };
  const agent = fileURLToPath(new URL('./e2a/agent.mjs', import.meta.url));
  try {
    const bare = await start('bare.mjs');
    const durable = await start('server.mjs', [join(folder, 'durable'), 'sqlite', agent]);
    const memory = await start('server.mjs', [join(folder, 'memory'), 'memory', agent]);
    return await measureAll({ bare, durable, memory, folder });
  } finally {
    for (const child of children) child.disconnect();
    await Promise.all(children.map((child) => new Promise((resolve) => child.once('exit', resolve))));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureAll({ bare, durable, memory, folder }: Contenders): Promise<string[]> {
  const shortfalls: string[] = [];
  const want = (what: string, value: number, bound: number, kind: 'at least' | 'at most', unit = '×') => {
    const met = kind === 'at least' ? value >= bound : value <= bound;
    if (!met) shortfalls.push(`${what}: ${value.toFixed(2)} ${unit}, ${kind} ${bound} wanted`);
  };

  const idle = await rssOf(durable);
  const unary = await inTurns({ bare, memory, durable }, (one) => unaryLoad(one, 64, 1500));
  console.log(
    table([
      ['unary, 64 connections', 'requests/s', 'of bare', 'p50', 'p99', 'p99 of bare'],
      ...Object.entries(unary).map(([name, result]) => [
        name,
        result.perSecond.toFixed(0),
        (result.perSecond / unary.bare.perSecond).toFixed(2),
        `${result.p50.toFixed(2)} ms`,
        `${result.p99.toFixed(2)} ms`,
        (result.p99 / unary.bare.p99).toFixed(2),
      ]),
    ]),
  );
  want(
    'durable unary requests per second, of bare node:http',
    unary.durable.perSecond / unary.bare.perSecond,
    0.45,
    'at least',
  );
  want('p99 of durable unary requests, of bare', unary.durable.p99 / unary.bare.p99, 4, 'at most');

  const commit = await bareCommit(folder);
  const single = await inTurns({ bare, durable }, (one) => unaryLoad(one, 1, 1500));
  const added = single.durable.p50 - single.bare.p50;
  console.log(
    `\none connection: bare p50 ${single.bare.p50.toFixed(3)} ms, durable ${single.durable.p50.toFixed(3)} ms, ` +
      `added ${added.toFixed(3)} ms = ${(added / commit).toFixed(2)} × one fsynced commit (${commit.toFixed(3)} ms)`,
  );
  want('added p50 at one connection, in fsynced commits', added / commit, 2.5, 'at most');

  const frames = await inTurns({ bare, memory, durable }, (one) => streamLoad(one, 8, 1000, 1500));
  console.log(
    `\n${table([
      ['streams of 1,000 frames, 8 at once', 'frames/s', 'of bare'],
      ...Object.entries(frames).map(([name, rate]) => [name, rate.toFixed(0), (rate / frames.bare).toFixed(2)]),
    ])}`,
  );
  want('durable frames per second, of a bare SSE loop', frames.durable / frames.bare, 0.3, 'at least');

  const costs = await inTurns({ 10: 10, 100: 100, 1000: 1000, 10000: 10_000 }, (count) => frameCost(durable, count));
  console.log(
    `\ncost per frame by length of the stream: ${Object.entries(costs)
      .map(([count, cost]) => `${count}: ${cost.toFixed(1)} µs`)
      .join(' · ')}`,
  );
  want('cost per frame at 10,000 frames, of that at 1,000', costs[10000] / costs[1000], 1.5, 'at most');

  const before = await rssOf(durable);
  const open = await Promise.all(Array.from({ length: 1000 }, (_, index) => holdOpen(durable, index)));
  const held = await rssOf(durable);
  for (const peer of open) peer.close();
  console.log(
    `\nstart to ready ${durable.startMs.toFixed(0)} ms (process included ${durable.sinceLaunchMs.toFixed(0)} ms) · idle memory ` +
      `${megabytes(idle)} MB · 1,000 open streams ${megabytes(held - before)} MB more`,
  );
  want('start to ready', durable.sinceLaunchMs, 1000, 'at most', 'ms');
  want('idle memory', idle / MB, 90, 'at most', 'MB');
  want('memory of 1,000 open streams', (held - before) / MB, 150, 'at most', 'MB');
  return shortfalls;
}

let count = 0;

function unaryLoad(one: Started, connections: number, milliseconds: number) {
  const next = () =>
    post(one, { request_id: `u${count++}`, method: 'chat.send', params: { content: 'hello my world' } });
  return load({ port: one.port, connections, milliseconds, next });
}

async function streamLoad(one: Started, connections: number, frames: number, milliseconds: number): Promise<number> {
  const next = () =>
    post(one, { request_id: `s${count++}`, method: 'chat.send', is_stream: true, params: { frames } }, SSE);
  const { perSecond } = await load({ port: one.port, connections, milliseconds, next });
  return perSecond * (frames + 1);
}

/** Microseconds a frame, one stream at a time, the fixed cost of a request taken off. */
async function frameCost(one: Started, frames: number): Promise<number> {
  const peer = await HttpPeer.open(one.port);
  const time = async (wanted: number) => {
    const started = performance.now();
    await peer.exchange(
      post(one, { request_id: `f${count++}`, method: 'chat.send', is_stream: true, params: { frames: wanted } }, SSE),
    );
    return performance.now() - started;
  };
  const rounds = Math.max(3, Math.round(3000 / frames));
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) best = Math.min(best, (await time(frames)) - (await time(0)));
  peer.close();
  return (Math.max(best, 0) * 1000) / frames;
}

async function holdOpen(one: Started, index: number): Promise<HttpPeer> {
  const peer = await HttpPeer.open(one.port);
  const body = { request_id: `h${index}`, method: 'chat.send', is_stream: true, params: { frames: 1, hold: true } };
  peer.exchange(post(one, body, SSE)).catch(() => {});
  // The first frame is there when the server has everything of the stream in memory.
  await new Promise((resolve) => setImmediate(resolve));
  return peer;
}

function post({ port, key }: Started, body: object, accept = 'application/json'): string {
  const text = JSON.stringify(body);
  const authorization = key === undefined ? '' : `Authorization: Bearer ${key}\r\n`;
  return `POST /e2a HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${authorization}Accept: ${accept}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

/** Milliseconds of `BEGIN; INSERT; COMMIT` with an fsync, on the same disk: the median. */
async function bareCommit(folder: string): Promise<number> {
  const database = (await loadEngine()).open(join(folder, 'bare.db'));
  database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)');
  const insert = database.prepare('INSERT INTO t (text) VALUES (?)');
  const times: number[] = [];
  for (let round = 0; round < 400; round++) {
    const started = performance.now();
    database.exec('BEGIN');
    insert.run('x'.repeat(800));
    database.exec('COMMIT');
    times.push(performance.now() - started);
  }
  database.close();
  return times.sort((a, b) => a - b)[200] ?? 0;
}

/** Each contender in turn, three rounds; the best of each counts (for loads: the round with the highest rate). */
async function inTurns<Name extends string | number, One, Result>(
  contenders: Readonly<Record<Name, One>>,
  measureOne: (one: One) => Promise<Result>,
): Promise<Record<Name, Result>> {
  const names = Object.keys(contenders) as Name[];
  const results = new Map<Name, Result>();
  for (let round = 0; round < 3; round++) {
    for (const name of names) {
      const result = await measureOne(contenders[name]);
      const best = results.get(name);
      if (best === undefined || better(result, best)) results.set(name, result);
    }
  }
  return Object.fromEntries(results) as Record<Name, Result>;
}

function better(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a > b;
  return (a as { perSecond: number }).perSecond > (b as { perSecond: number }).perSecond;
}

async function rssOf({ child }: Started): Promise<number> {
  child.send('memory');
  return ((await nextMessage(child)) as { rss: number }).rss;
}

function nextMessage(child: ChildProcess): Promise<object> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as object));
    child.once('exit', (code) => reject(new Error(`a process of the benchmark ended with ${code}`)));
  });
}

function megabytes(bytes: number): string {
  return (bytes / MB).toFixed(0);
}

interface Started {
  readonly child: ChildProcess;
  readonly port: number;
  readonly key?: string;
  readonly startMs: number;
  readonly sinceLaunchMs: number;
}

interface Contenders {
  readonly bare: Started;
  readonly durable: Started;
  readonly memory: Started;
  readonly folder: string;
}

const MB = 1024 * 1024;
const SSE = 'text/event-stream';
