// Durable executions of a workflow of three operations (fetch a hundred rows, filter, sort) against the same three steps in
// plain JavaScript in memory, with the same HTTP client: through the engine's own API and through the HTTP door. And what
// one more operation costs that does next to nothing. The operations on data are in `workflow-data.ts`.
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { decodeAsked } from '../packages/core/src/executions/asked.ts';
import { openWorkflows, type Workflows } from '../packages/core/src/executions/workflows.ts';
import { openGate } from '../packages/core/src/gate/network-gate.ts';
import { Limiter } from '../packages/core/src/limits/limiter.ts';
import type { Log } from '../packages/core/src/ports.ts';
import { ALL_PERMISSIONS, type Principal } from '../packages/core/src/principal.ts';
import { openSqliteStore } from '../packages/core/src/store/sqlite-store.ts';
import { systemClock as clock, systemIds as ids } from '../packages/server/src/system-ports.ts';
import { load } from './e2a/load.ts';
import { table } from './measure.ts';

export async function benchExecutions(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const children: ChildProcess[] = [];
  const start = async <Told>(file: string, args: readonly string[] = []): Promise<Told> => {
    const path = fileURLToPath(new URL(`./workflow/${file}`, import.meta.url));
    const child = fork(path, args, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    children.push(child);
    return new Promise((resolve, reject) => {
      child.once('message', (told) => resolve(told as Told));
      child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)));
    });
  };
  try {
    const api = await start<{ port: number }>('api.mjs');
    const server = await start<Server>('server.mjs', [join(folder, 'server'), String(api.port)]);
    return await measureAll({ apiPort: api.port, server, folder: join(folder, 'engine') });
  } finally {
    for (const child of children) child.disconnect();
    await Promise.all(children.map((child) => new Promise((resolve) => child.once('exit', resolve))));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureAll({ apiPort, server, folder }: Parts): Promise<string[]> {
  const shortfalls: string[] = [];
  const store = await openSqliteStore({ folder, onFatal: (error) => console.error(error) });
  const engine = workflowsIn(store, folder, apiPort);
  const memory = new Pool(`http://127.0.0.1:${apiPort}`, { connections: AT_ONCE });
  const contenders: Record<string, () => Promise<number>> = {
    'plain JavaScript': () => perSecond(() => plainSteps(memory)),
    'engine, durable': () => perSecond(() => execute(engine, threeSteps(apiPort))),
    'through HTTP, durable': async () =>
      (
        await load({
          port: server.port,
          connections: AT_ONCE,
          milliseconds: SLICE_MS,
          next: () => post(server, threeSteps(apiPort)),
        })
      ).perSecond,
  };
  const best = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, measure] of Object.entries(contenders)) {
      best.set(name, Math.max(best.get(name) ?? 0, await measure()));
    }
  }
  const bare = best.get('plain JavaScript') ?? 1;
  console.log(
    table([
      [`three operations, ${AT_ONCE} at once`, 'per second', 'of plain'],
      ...[...best].map(([name, rate]) => [name, rate.toFixed(0), (rate / bare).toFixed(2)]),
    ]),
  );
  for (const [name, bound] of [
    ['engine, durable', 0.4],
    ['through HTTP, durable', 0.3],
  ] as const) {
    const ratio = (best.get(name) ?? 0) / bare;
    if (ratio < bound) shortfalls.push(`${name}: ${ratio.toFixed(2)} × plain JavaScript, at least ${bound} wanted`);
  }
  const overhead = await operationOverhead(engine);
  console.log(`\none more operation that does next to nothing: ${(overhead * 1000).toFixed(0)} µs (p50)`);
  if (overhead > 0.1) shortfalls.push(`one more operation: ${overhead.toFixed(3)} ms, at most 0.1 ms wanted`);
  const { commits, writes } = await store.stats();
  console.log(`the engine's store: ${writes} writes in ${commits} commits`);
  await engine.stop(1000);
  await memory.close();
  await store[Symbol.asyncDispose]();
  return shortfalls;
}

function workflowsIn(store: Awaited<ReturnType<typeof openSqliteStore>>, folder: string, apiPort: number): Workflows {
  const api = { id: 'bench', base_url: `http://127.0.0.1:${apiPort}`, description: null, endpoints: [] };
  return openWorkflows({
    store,
    folder,
    gate: openGate({ clock, log: SILENT, allow: [{ host: '127.0.0.1', port: apiPort }] }),
    apis: { version: 1, list: () => [api], find: () => api },
    credentials: { list: () => [], find: () => undefined },
    limiter: new Limiter({ clock, limits: { api_calls_per_minute: 1e9, api_calls_per_hour: 1e9 } }),
    principalNamed: () => CALLER,
    clock,
    ids,
    log: SILENT,
    limits: { cache_seconds: 0 },
  });
}

/** What somebody would write without us. */
async function plainSteps(pool: Pool): Promise<void> {
  const { body } = await pool.request({ method: 'GET', path: '/users' });
  const users = (await body.json()) as { status: string; points: number }[];
  const active = users.filter(({ status }) => status === 'active');
  const sorted = active.toSorted((a, b) => b.points - a.points);
  if (sorted.length !== 50) throw new Error('the plain steps went wrong');
}

async function execute(engine: Workflows, workflow: string): Promise<void> {
  const read = decodeAsked({ workflow }, clock.now());
  if (!read.ok || !('asked' in read)) throw new Error('the workflow cannot be read');
  const begun = await engine.executions.execute(read.asked, { principal: CALLER, waits: true });
  const result = await begun.result();
  if (!result.includes('"status":"success"')) throw new Error(result.slice(0, 500));
}

async function perSecond(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  const until = started + SLICE_MS;
  let done = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (performance.now() < until) {
        await work();
        done++;
      }
    }),
  );
  return (done * 1000) / (performance.now() - started);
}

/** Milliseconds: the median of executions with eleven small operations, less that of one, by ten. */
async function operationOverhead(engine: Workflows): Promise<number> {
  const median = async (operations: number) => {
    const times: number[] = [];
    for (let round = 0; round < 300; round++) {
      const started = performance.now();
      await execute(engine, smallSteps(operations));
      times.push(performance.now() - started);
    }
    return times.sort((a, b) => a - b)[150] ?? 0;
  };
  await median(11);
  return Math.max(0, ((await median(11)) - (await median(1))) / 10);
}

let count = 0;

function threeSteps(apiPort: number): string {
  return lines({
    fetch: { ApiCall: { method: 'GET', url: `http://127.0.0.1:${apiPort}/users`, outputPath: '/workflow/users' } },
    filter: {
      FilterData: {
        inputPath: '/workflow/users',
        conditions: [{ field: 'status', operator: '==', value: 'active' }],
        outputPath: '/workflow/active',
      },
    },
    sort: {
      TransformData: {
        inputPath: '/workflow/active',
        transform: 'sort',
        config: { field: 'points', order: 'desc' },
        outputPath: '/workflow/sorted',
      },
    },
  });
}

function smallSteps(operations: number): string {
  const time = { GetCurrentDateTime: { format: 'timestamp', outputPath: '/workflow/n' } };
  const step = { Calculate: { inputPath: '/workflow/n', operation: 'abs', outputPath: '/workflow/m' } };
  const steps = Array.from({ length: operations }, (_, index) => [`step-${index}`, step]);
  return lines({ time, ...Object.fromEntries(steps) });
}

function lines(operations: Readonly<Record<string, object>>): string {
  const updates = Object.entries(operations).map(([operationId, operation]) =>
    JSON.stringify({ type: 'operationUpdate', operationId, operation }),
  );
  const executionId = `bench-${count++}`;
  const begin = { type: 'beginExecution', executionId, operationOrder: Object.keys(operations) };
  return [...updates, JSON.stringify(begin)].join('\n');
}

function post({ port, key }: Server, workflow: string): string {
  const body = JSON.stringify({ workflow });
  return `POST /api/v1/workflows/execute HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

interface Server {
  readonly port: number;
  readonly key: string;
}

interface Parts {
  readonly apiPort: number;
  readonly server: Server;
  readonly folder: string;
}

const AT_ONCE = 32;
const ROUNDS = 4;
const SLICE_MS = 2000;
const CALLER: Principal = { id: 'bench-client', role: 'agent', permissions: ALL_PERMISSIONS };
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
