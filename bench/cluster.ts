// One node on PostgreSQL against the embedded store, and two nodes against one, in one run. What counts is the CPU time of a request, of the
// node and of all processes of PostgreSQL: load, nodes and database share this machine, so that throughput says less here than anywhere else.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../packages/core/test-support/postgres-server.ts';
import { endAll, forkPart, nextMessage } from './support/child.ts';
import { HttpPeer, type LoadResult, load } from './support/load.ts';
import { inTurns, median, medianRatio, table } from './support/measure.ts';

export async function run(): Promise<readonly string[]> {
  const postgres = await startPostgres({ isDurable: true });
  // Its default; a server for tests has less, and would have to write pages out while it works.
  await postgres.restart(['shared_buffers = 128MB']);
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const children: ChildProcess[] = [];
  const api = await startApi();
  let started = 0;
  const serve = async (store: string): Promise<Node> => {
    started += 1;
    const args = [join(folder, `node-${started}`), store, `127.0.0.1:${(api.address() as AddressInfo).port}`];
    const child = forkPart(new URL('./cluster/server.mjs', import.meta.url), args);
    children.push(child);
    return { child, ...(await nextMessage<Pick<Node, 'port' | 'key'>>(child)) };
  };
  const figures = new Figures();
  try {
    const sqlite = await serve('sqlite');
    const one = await serve(postgres.url('one'));
    await measureStores(figures, { sqlite, postgres: one }, postgres);
    await endAll([sqlite.child, one.child]);
    const nodes = [await serve(postgres.url('two')), await serve(postgres.url('two'))] as const;
    await measureTwo(figures, nodes, postgres);
    await measureRemote(figures, nodes);
    await measureTakeOver(figures, nodes, () => serve(postgres.url('two')));
    return figures.shortfalls;
  } finally {
    for (const child of children) child.kill('SIGCONT');
    await endAll(children);
    api.close();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureStores(figures: Figures, contenders: Stores, postgres: PostgresServer): Promise<void> {
  const loads: readonly Measure[] = [
    { title: 'unary, idempotent agent, 64 at once', atLeast: 0.8, items: 1, load: (node) => unaryLoad(node, 'bench') },
    { title: 'unary, careful agent, 64 at once', atLeast: 0.6, items: 1, load: (node) => unaryLoad(node, 'careful') },
    { title: 'frames, streams of 1,000, 8 at once', atLeast: 0.8, items: FRAMES + 1, load: streamLoad },
    { title: 'workflows of three steps with a GET, 32 at once', atLeast: 0.7, items: 1, load: workflowLoad },
  ];
  const rows: string[][] = [];
  for (const { title, atLeast, items, load: loading } of loads) {
    const rounds = await inTurns(contenders, ROUNDS, (node) => measured([node], postgres, items, () => loading(node)));
    const of = (name: keyof Stores, value: (one: Measured) => number) =>
      median(rounds.map((round) => value(round[name])));
    const ratio = medianRatio(rounds, 'postgres', 'sqlite', ({ perSecond }) => perSecond);
    const [node, database] = [of('postgres', ({ cpu }) => cpu), of('postgres', ({ databaseCpu }) => databaseCpu)];
    const embedded = of('sqlite', ({ cpu }) => cpu);
    rows.push([
      title,
      of('sqlite', ({ perSecond }) => perSecond).toFixed(0),
      of('postgres', ({ perSecond }) => perSecond).toFixed(0),
      ratio.toFixed(2),
      embedded.toFixed(1),
      `${node.toFixed(1)} + ${database.toFixed(1)}`,
      (node / embedded).toFixed(2),
    ]);
    figures.atLeast(`PostgreSQL of SQLite: ${title}`, ratio, atLeast);
    if (rows.length === 1) figures.atMost('CPU of PostgreSQL for a grouped accept', database, 35, 'µs');
  }
  const head = [
    '',
    'SQLite /s',
    'PostgreSQL /s',
    'ratio',
    'CPU SQLite, µs',
    'CPU node + PostgreSQL, µs',
    'CPU of nodes, ratio',
  ];
  console.log(`${table([head, ...rows])}\n`);
}

async function measureTwo(figures: Figures, [one, two]: Nodes, postgres: PostgresServer): Promise<void> {
  const contenders = { one: [one], two: [one, two] };
  const rounds = await inTurns(contenders, ROUNDS, (nodes) =>
    measured(nodes, postgres, FRAMES + 1, async () =>
      together(await Promise.all(nodes.map((node) => streamLoad(node)))),
    ),
  );
  const of = (name: 'one' | 'two', value: (one: Measured) => number) =>
    median(rounds.map((round) => value(round[name])));
  for (const name of ['one', 'two'] as const) {
    const [rate, cpu, database] = [
      of(name, ({ perSecond }) => perSecond),
      of(name, (each) => each.cpu),
      of(name, ({ databaseCpu }) => databaseCpu),
    ];
    console.log(`frames by nodes: ${name}: ${rate.toFixed(0)}/s, CPU ${cpu.toFixed(1)} + ${database.toFixed(1)} µs`);
  }
  figures.atLeast(
    'frames of two nodes, of one',
    medianRatio(rounds, 'two', 'one', ({ perSecond }) => perSecond),
    1.6,
  );
}

/** How long a frame of one node is on its way to a reader on the other, while nothing else happens. */
async function measureRemote(figures: Figures, [one, two]: Nodes): Promise<void> {
  const id = `remote-${Date.now()}`;
  const posted = post(one, '/e2a', { request_id: id, is_stream: true, params: { frames: 400, every: 10 } });
  const delays: number[] = [];
  for await (const frame of framesOf(await read(two, id))) {
    const made = Number((frame['body'] as { delta?: string } | null)?.delta ?? Number.NaN);
    if (Number.isFinite(made)) delays.push(performance.timeOrigin + performance.now() - made);
  }
  posted.close();
  delays.sort((a, b) => a - b);
  const p99 = delays[Math.floor(0.99 * delays.length)] ?? Number.NaN;
  console.log(`a frame to a reader on the other node: p50 ${median(delays).toFixed(1)} ms of ${delays.length} frames`);
  figures.atMost('p99 of a frame to a reader on the other node', p99, 10, 'ms');
}

/** From the moment a node is gone to the final frame at a reader on the other. */
async function measureTakeOver(figures: Figures, [one, two]: Nodes, serve: () => Promise<Node>): Promise<void> {
  const tries = [
    { node: one, signal: 'SIGKILL', bound: 3000, what: 'kill -9' },
    { node: await serve(), signal: 'SIGSTOP', bound: 11_000, what: 'SIGSTOP' },
  ] as const;
  for (const { node, signal, bound, what } of tries) {
    // Nobody is declared dead before the survivor's own beats got through for one time to live.
    await new Promise((resolve) => setTimeout(resolve, 11_000));
    const id = `left-${signal}-${Date.now()}`;
    const posted = post(node, '/e2a', { request_id: id, is_stream: true, params: { frames: 1, hold: true } });
    const frames = framesOf(await read(two, id));
    await frames.next();
    const goneAt = performance.now();
    node.child.kill(signal);
    let final: Record<string, unknown> | undefined;
    for await (const frame of frames) final = frame;
    posted.close();
    if (final?.['is_final'] !== true) figures.shortfalls.push(`no final frame came after ${what}`);
    figures.atMost(`take-over after ${what}`, performance.now() - goneAt, bound, 'ms');
    node.child.kill('SIGCONT');
  }
}

interface Node {
  readonly child: ChildProcess;
  readonly port: number;
  readonly key: string;
}
type Nodes = readonly [Node, Node];
type Stores = Readonly<Record<'sqlite' | 'postgres', Node>>;

interface Measure {
  readonly title: string;
  readonly atLeast: number;
  /** In one answer. */
  readonly items: number;
  readonly load: (node: Node) => Promise<LoadResult>;
}

interface Measured {
  readonly perSecond: number;
  /** Microseconds for each item, of all threads of the nodes. */
  readonly cpu: number;
  /** The same of all processes of PostgreSQL. */
  readonly databaseCpu: number;
}

async function measured(
  nodes: readonly Node[],
  postgres: PostgresServer,
  items: number,
  loading: () => Promise<LoadResult>,
): Promise<Measured> {
  const used = async () => (await Promise.all(nodes.map(cpuOf))).reduce((sum, value) => sum + value, 0);
  const [before, databaseBefore] = [await used(), databaseCpu(postgres)];
  const { answers, perSecond } = await loading();
  const count = answers * items;
  return {
    perSecond: perSecond * items,
    cpu: ((await used()) - before) / count,
    databaseCpu: (databaseCpu(postgres) - databaseBefore) / count,
  };
}

function together(loads: readonly LoadResult[]): LoadResult {
  const sum = (value: (one: LoadResult) => number) => loads.reduce((total, one) => total + value(one), 0);
  return { answers: sum(({ answers }) => answers), perSecond: sum(({ perSecond }) => perSecond), p50: 0, p99: 0 };
}

async function cpuOf({ child }: Node): Promise<number> {
  child.send('cpu');
  return nextMessage<number>(child);
}

/** Microseconds of the server and all its children, those that have ended included. */
function databaseCpu({ folder }: PostgresServer): number {
  const main = readFileSync(join(folder, '..', 'data', 'postmaster.pid'), 'utf8').split('\n')[0];
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const stat = statOf(pid);
    if (stat === undefined || (pid !== main && stat[1] !== main)) continue;
    // proc(5): fields 14 and 15 are the process's own, 16 and 17 those of children that were waited for.
    ticks += Number(stat[11]) + Number(stat[12]) + (pid === main ? Number(stat[13]) + Number(stat[14]) : 0);
  }
  return ticks * TICK_US;
}

/** The fields behind the name; the second is the parent. `undefined`: it has ended. */
function statOf(pid: string): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

let count = 0;

function unaryLoad(node: Node, agent: string): Promise<LoadResult> {
  const next = () =>
    request(node, `/e2a/agents/${agent}`, {
      request_id: `u${count++}`,
      method: 'chat.send',
      params: { content: 'hello my world' },
    });
  return load({ port: node.port, connections: 64, milliseconds: ROUND_MS, next });
}

function streamLoad(node: Node): Promise<LoadResult> {
  const next = () =>
    request(node, '/e2a', {
      request_id: `s${count++}`,
      method: 'chat.send',
      is_stream: true,
      params: { frames: FRAMES },
    });
  return load({ port: node.port, connections: 8, milliseconds: ROUND_MS, next });
}

function workflowLoad(node: Node): Promise<LoadResult> {
  const next = () => {
    const executionId = `w${count++}`;
    const operations = {
      now: { GetCurrentDateTime: { outputPath: '/workflow/now' } },
      fetch: { ApiCall: { method: 'GET', url: `${API}/items?n=${executionId}`, outputPath: '/workflow/items' } },
      later: { GetCurrentDateTime: { outputPath: '/workflow/later' } },
    };
    const lines = [
      ...Object.entries(operations).map(([operationId, operation]) => ({
        type: 'operationUpdate',
        operationId,
        operation,
      })),
      { type: 'beginExecution', executionId, operationOrder: Object.keys(operations) },
    ];
    return request(node, '/api/v1/workflows/execute', {
      workflow: lines.map((line) => JSON.stringify(line)).join('\n'),
    });
  };
  return load({ port: node.port, connections: 32, milliseconds: ROUND_MS, next });
}

/** The bytes of a whole request. */
function request(
  { port, key }: Node,
  path: string,
  body: { readonly is_stream?: boolean; readonly [name: string]: unknown },
): string {
  const text = JSON.stringify(body);
  const accept = body.is_stream === true ? 'text/event-stream' : 'application/json';
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\nAccept: ${accept}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

/** Begins an answer that is read elsewhere. */
function post(node: Node, path: string, body: { readonly is_stream: boolean; readonly [name: string]: unknown }) {
  const opened = HttpPeer.open(node.port).then((peer) => {
    peer.exchange(request(node, path, body)).catch(() => {});
    return peer;
  });
  return { close: () => void opened.then((peer) => peer.close()) };
}

/** The answer from its first frame on, as soon as there is one. */
async function read({ port, key }: Node, id: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${key}`, accept: 'application/x-ndjson' };
  for (;;) {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: '127.0.0.1', port, path: `/e2a/requests/${id}/responses`, headers, agent: false }, resolve).on(
        'error',
        reject,
      );
    });
    if (answer.statusCode === 200) return answer;
    answer.destroy();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function* framesOf(answer: IncomingMessage): AsyncGenerator<Record<string, unknown>> {
  let rest = '';
  for await (const text of answer.setEncoding('utf8')) {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield JSON.parse(line);
  }
}

let API = '';

/** What the workflows ask. */
async function startApi(): Promise<Server> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"items":[1,2,3]}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  API = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return server;
}

/** What was measured against what was wanted. */
class Figures {
  readonly shortfalls: string[] = [];

  atLeast(what: string, value: number, bound: number, unit = '×'): void {
    console.log(`${what}: ${value.toFixed(2)} ${unit}, at least ${bound}`);
    if (!(value >= bound)) this.shortfalls.push(`${what}: ${value.toFixed(2)} ${unit}, at least ${bound} wanted`);
  }

  atMost(what: string, value: number, bound: number, unit = '×'): void {
    console.log(`${what}: ${value.toFixed(2)} ${unit}, at most ${bound}`);
    if (!(value <= bound)) this.shortfalls.push(`${what}: ${value.toFixed(2)} ${unit}, at most ${bound} wanted`);
  }
}

const FRAMES = 1000;
const ROUNDS = 5;
const ROUND_MS = 1200;
/** Linux counts in hundredths of a second. */
const TICK_US = 10_000;
