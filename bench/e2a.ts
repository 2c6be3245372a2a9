// The E2A server against bare `node:http` doing the same JSON, in one run: durable unary requests, streamed durable
// frames, latency against one fsynced commit, start and memory. Everything runs on this machine, so ratios count.
//
// Each figure is taken in rounds, and in each round right beside what it is compared with; the median over the rounds of
// the ratio counts. What else happens on the machine then slows both, or one round, and not the result.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Database, loadEngine } from '../packages/core/src/store/sqlite-engine.ts';
import { endAll, forkPart, nextMessage } from './support/child.ts';
import { HttpPeer, type LoadResult, load } from './support/load.ts';
import { inTurns, median, medianRatio, table } from './support/measure.ts';

export async function run(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const children: ChildProcess[] = [];
  let servers = 0;
  const start = async (file: string, args: readonly string[] = []): Promise<Started> => {
    const child = forkPart(new URL(`./e2a/${file}`, import.meta.url), args);
    children.push(child);
    return { child, ...(await nextMessage<Omit<Started, 'child'>>(child)) };
  };
  const agent = fileURLToPath(new URL('./support/agent.mjs', import.meta.url));
  const serve = (store: string) => start('server.mjs', [join(folder, `server-${servers++}`), store, agent]);
  const figures = new Figures();
  try {
    await measureStart(figures, () => serve('sqlite'));
    const bare = await start('bare.mjs');
    const durable = await serve('sqlite');
    const memory = await serve('memory');
    const careful = { ...durable, agent: 'careful' };
    await measureUnary(figures, { bare, memory, careful, durable });
    await measureLatency(figures, { bare, careful, durable }, folder);
    await measureStreams(figures, { bare, memory, durable });
    await measureFrameCost(figures, durable);
    return figures.shortfalls;
  } finally {
    await endAll(children);
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Start and memory of fresh servers: one that has worked keeps what it needed then. Idle is a server that has done nothing
 * for half a minute: the engine gives back what starting took after some seconds, in its own time, and is not pushed.
 */
async function measureStart(figures: Figures, serve: () => Promise<Started>): Promise<void> {
  const servers: Started[] = [];
  for (let round = 0; round < 3; round++) servers.push(await serve());
  const starts = servers.map((server) => server.sinceLaunchMs);
  await new Promise((resolve) => setTimeout(resolve, 30_000));
  const idle: number[] = [];
  const streams: number[] = [];
  for (const server of servers) {
    const atRest = (await ask(server, 'memory')) / MB;
    idle.push(atRest);
    const open = await Promise.all(Array.from({ length: 1000 }, (_, index) => holdOpen(server, index)));
    streams.push((await ask(server, 'memory')) / MB - atRest);
    for (const peer of open) peer.close();
    await endAll([server.child]);
  }
  console.log(
    `start to ready ${median(starts).toFixed(0)} ms · idle memory ${median(idle).toFixed(0)} MB · ` +
      `1,000 open streams ${median(streams).toFixed(0)} MB more`,
  );
  figures.atMost('start to ready', median(starts), 700, 'ms');
  figures.atMost('idle memory', median(idle), 90, 'MB');
  figures.atMost('memory of 1,000 open streams', median(streams), 150, 'MB');
}

async function measureUnary(figures: Figures, contenders: Contenders & { careful: Started }): Promise<void> {
  const rounds = await inTurns(contenders, 7, (one) => measured(one, 1, () => unaryLoad(one, 64, 1200)));
  printLoads('unary, 64 connections', 'requests/s', rounds);
  for (const [name, agent, bound] of [
    ['careful', 'not idempotent', 0.33],
    ['durable', 'idempotent', 0.4],
  ] as const) {
    const rate = medianRatio(rounds, name, 'bare', (result) => result.perSecond);
    figures.atLeast(`durable unary requests per second, agent ${agent}, of bare node:http`, rate, bound);
  }
  const slowest = medianRatio(rounds, 'durable', 'bare', (result) => result.p99);
  figures.atMost('p99 of durable unary requests, of bare', slowest, 4);
}

async function measureLatency(
  figures: Figures,
  { bare, careful, durable }: { bare: Started; careful: Started; durable: Started },
  folder: string,
) {
  const commits = await BareCommits.open(folder);
  const tries = {
    bare: () => p50(bare),
    careful: () => p50(careful),
    durable: () => p50(durable),
    commit: async () => commits.p50(),
  };
  const rounds = await inTurns(tries, 9, (one) => one());
  commits.close();
  const added = (name: 'careful' | 'durable') =>
    median(rounds.map((round) => (round[name] - round.bare) / round.commit));
  const of = (name: keyof typeof tries) => `${median(rounds.map((round) => round[name])).toFixed(3)} ms`;
  console.log(
    `\none connection: p50 of bare ${of('bare')}, of durable ${of('durable')}; added ${added('durable').toFixed(2)} × ` +
      `one fsynced commit (${of('commit')}); of an agent that is not idempotent ${of('careful')}, ` +
      `added ${added('careful').toFixed(2)} ×`,
  );
  figures.atMost('added p50 at one connection, in fsynced commits', added('durable'), 2.5);
}

async function measureStreams(figures: Figures, contenders: Contenders): Promise<void> {
  const frames = 1000;
  const rounds = await inTurns(contenders, 7, (one) =>
    measured(one, frames + 1, () => streamLoad(one, 8, frames, 1200)),
  );
  printLoads('streams of 1,000 frames, 8 at once', 'frames/s', rounds);
  const rate = medianRatio(rounds, 'durable', 'bare', (result) => result.perSecond);
  figures.atLeast('durable frames per second, of a bare SSE loop', rate, 0.5);
}

/**
 * CPU time of the server for a frame, by length of the stream. A stream without frames is measured beside each and
 * taken off: what is left is the frames' own.
 */
async function measureFrameCost(figures: Figures, durable: Started): Promise<void> {
  const cpuOf = async (frames: number, streams: number) => {
    const before = await ask(durable, 'cpu');
    await allStreams(durable, frames, streams);
    return ((await ask(durable, 'cpu')) - before) / streams;
  };
  const lengths = { 10: 10, 100: 100, 1000: 1000, 10000: 10_000 };
  const rounds = await inTurns(lengths, 9, async (frames) => {
    const streams = Math.max(4, Math.min(1000, 40_000 / frames));
    const fixed = frames < 1000 ? await cpuOf(0, 1000) : 0;
    return ((await cpuOf(frames, streams)) - fixed) / frames;
  });
  const costs = Object.keys(lengths).map((length) => median(rounds.map((round) => round[length as '10'])));
  console.log(
    `\nCPU of a frame by length of the stream: ${Object.keys(lengths)
      .map((length, index) => `${length}: ${costs[index]?.toFixed(1)} µs`)
      .join(' · ')}`,
  );
  // A very short stream may be cheaper: its frames all go in one commit, which is taken off.
  figures.atMost('cost per frame of the dearest length, of that at 100', Math.max(...costs) / (costs[1] ?? 1), 1.5);
}

function printLoads<Name extends string>(
  title: string,
  unit: string,
  rounds: readonly Record<Name | 'bare', MeasuredLoad>[],
): void {
  const names = Object.keys(rounds[0] ?? {}) as Name[];
  const row = (name: Name) => {
    const of = (value: (result: MeasuredLoad) => number) => median(rounds.map((round) => value(round[name])));
    return [
      name,
      of((result) => result.perSecond).toFixed(0),
      medianRatio(rounds, name, 'bare', (result) => result.perSecond).toFixed(2),
      `${of((result) => result.cpu).toFixed(1)} µs`,
      `${of((result) => result.p50).toFixed(2)} ms`,
      `${of((result) => result.p99).toFixed(2)} ms`,
      medianRatio(rounds, name, 'bare', (result) => result.p99).toFixed(2),
    ];
  };
  console.log(`\n${table([[title, unit, 'of bare', 'CPU each', 'p50', 'p99', 'p99 of bare'], ...names.map(row)])}`);
}

/** The load, per item of an answer, with the CPU time the server took for each. */
async function measured(one: Started, items: number, loading: () => Promise<LoadResult>): Promise<MeasuredLoad> {
  const before = await ask(one, 'cpu');
  const { answers, perSecond, ...result } = await loading();
  const cpu = ((await ask(one, 'cpu')) - before) / (answers * items);
  return { ...result, answers, perSecond: perSecond * items, cpu };
}

let count = 0;

function unaryLoad(one: Started, connections: number, milliseconds: number): Promise<LoadResult> {
  const next = () =>
    post(one, { request_id: `u${count++}`, method: 'chat.send', params: { content: 'hello my world' } });
  return load({ port: one.port, connections, milliseconds, next });
}

async function p50(one: Started): Promise<number> {
  return (await unaryLoad(one, 1, 500)).p50;
}

function streamLoad(one: Started, connections: number, frames: number, milliseconds: number): Promise<LoadResult> {
  return load({ port: one.port, connections, milliseconds, next: () => postStream(one, { frames }) });
}

/** This many streams of this many frames, 8 at a time. */
async function allStreams(one: Started, frames: number, streams: number): Promise<void> {
  let left = streams;
  const reader = async () => {
    const peer = await HttpPeer.open(one.port);
    while (left-- > 0) await peer.exchange(postStream(one, { frames }));
    peer.close();
  };
  await Promise.all(Array.from({ length: 8 }, reader));
}

async function holdOpen(one: Started, index: number): Promise<HttpPeer> {
  const peer = await HttpPeer.open(one.port);
  peer.exchange(postStream(one, { frames: 1, hold: true, index })).catch(() => {});
  // With its first frame the server has everything of the stream in memory.
  await peer.started();
  return peer;
}

function postStream(one: Started, params: object): string {
  const body = { request_id: `s${count++}`, method: 'chat.send', is_stream: true, params };
  return post(one, body, 'text/event-stream');
}

function post({ port, key, agent }: Started, body: object, accept = 'application/json'): string {
  const text = JSON.stringify(body);
  const authorization = key === undefined ? '' : `Authorization: Bearer ${key}\r\n`;
  return `POST /e2a${agent === undefined ? '' : `/agents/${agent}`} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${authorization}Accept: ${accept}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

/** `BEGIN; INSERT; COMMIT` with an fsync, on the same disk. */
class BareCommits {
  readonly #database: Database;
  readonly #commit: () => void;

  private constructor(database: Database) {
    database.exec(
      'PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)',
    );
    const insert = database.prepare('INSERT INTO t (text) VALUES (?)');
    this.#database = database;
    this.#commit = () => {
      database.exec('BEGIN');
      insert.run('x'.repeat(800));
      database.exec('COMMIT');
    };
  }

  static async open(folder: string): Promise<BareCommits> {
    return new BareCommits((await loadEngine()).open(join(folder, 'bare.db')));
  }

  /** Milliseconds, the median of many. */
  p50(): number {
    const times = Array.from({ length: 300 }, () => {
      const started = performance.now();
      this.#commit();
      return performance.now() - started;
    });
    return median(times);
  }

  close(): void {
    this.#database.close();
  }
}

/** What was measured against what was wanted. */
class Figures {
  readonly shortfalls: string[] = [];

  atLeast(what: string, value: number, bound: number, unit = '×'): void {
    console.log(`${what}: ${value.toFixed(2)} ${unit}, at least ${bound}`);
    if (value < bound) this.shortfalls.push(`${what}: ${value.toFixed(2)} ${unit}, at least ${bound} wanted`);
  }

  atMost(what: string, value: number, bound: number, unit = '×'): void {
    console.log(`${what}: ${value.toFixed(2)} ${unit}, at most ${bound}`);
    if (value > bound) this.shortfalls.push(`${what}: ${value.toFixed(2)} ${unit}, at most ${bound} wanted`);
  }
}

async function ask({ child }: Started, what: 'memory' | 'cpu'): Promise<number> {
  child.send(what);
  return Number(await nextMessage(child));
}

interface MeasuredLoad extends LoadResult {
  /** Microseconds of CPU time, of all threads of the server. */
  readonly cpu: number;
}

interface Started {
  readonly child: ChildProcess;
  readonly port: number;
  readonly key?: string;
  /** The agent to ask, where it is not the default one. */
  readonly agent?: string;
  readonly sinceLaunchMs: number;
}

interface Contenders {
  readonly bare: Started;
  readonly durable: Started;
  readonly memory: Started;
}

const MB = 1024 * 1024;
