// Durable executions of a workflow of three operations (fetch a hundred rows, filter, sort) against the same three steps in
// plain JavaScript in memory, with the same HTTP client: through the engine's own API and through the HTTP endpoint, both as they
// are built. And what one more operation costs that does next to nothing. The operations on data are in `data.ts`.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endAll, forkPart, nextMessage } from '../support/child.ts';
import { load } from '../support/load.ts';
import { inTurns, median, medianRatio, table } from '../support/measure.ts';
import { threeSteps } from './workflows.mjs';

export async function benchExecutions(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const children: ChildProcess[] = [];
  const start = (file: string, args: readonly string[] = []): ChildProcess => {
    const child = forkPart(new URL(`./${file}`, import.meta.url), args);
    children.push(child);
    return child;
  };
  try {
    const { port } = await nextMessage<{ port: number }>(start('api.mjs'));
    const server = await nextMessage<Server>(start('server.mjs', [join(folder, 'server'), String(port)]));
    const engine = start('engine.mjs', [join(folder, 'engine'), String(port)]);
    await nextMessage(engine);
    return await measureAll({ origin: `http://127.0.0.1:${port}`, server, engine });
  } finally {
    await endAll(children);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureAll({ origin, server, engine }: Parts): Promise<string[]> {
  const shortfalls: string[] = [];
  const nextThree = threeSteps(origin);
  const contenders: Record<Contender, () => Promise<number>> = {
    'plain JavaScript': () => runsPerSecond(engine, 'plain'),
    'engine, durable': () => runsPerSecond(engine, 'engine'),
    'through HTTP, durable': async () =>
      (
        await load({
          port: server.port,
          connections: AT_ONCE,
          milliseconds: SLICE_MS,
          next: () => post(server, nextThree()),
        })
      ).perSecond,
  };
  const rounds = await inTurns(contenders, ROUNDS, (measure) => measure());
  const ratioOf = (name: Contender) => medianRatio(rounds, name, 'plain JavaScript', (rate) => rate);
  console.log(
    table([
      [`three operations, ${AT_ONCE} at once`, 'per second', 'of plain'],
      ...CONTENDERS.map((name) => [
        name,
        median(rounds.map((round) => round[name])).toFixed(0),
        ratioOf(name).toFixed(2),
      ]),
    ]),
  );
  for (const [name, bound] of [
    ['engine, durable', 0.33],
    ['through HTTP, durable', 0.22],
  ] as const) {
    const ratio = ratioOf(name);
    console.log(`${name}: ${ratio.toFixed(2)} × plain JavaScript, at least ${bound}`);
    if (ratio < bound) shortfalls.push(`${name}: ${ratio.toFixed(2)} × plain JavaScript, at least ${bound} wanted`);
  }
  const overhead = await runsPerSecond<number>(engine, 'overhead');
  console.log(`\none more operation that does next to nothing: ${(overhead * 1000).toFixed(0)} µs (p50)`);
  if (overhead > 0.1) shortfalls.push(`one more operation: ${overhead.toFixed(3)} ms, at most 0.1 ms wanted`);
  const { commits, writes } = await runsPerSecond<{ commits: number; writes: number }>(engine, 'stats');
  console.log(`the engine's store: ${writes} writes in ${commits} commits`);
  return shortfalls;
}

async function runsPerSecond<Answer>(child: ChildProcess, what: string): Promise<Answer> {
  child.send(what);
  return nextMessage(child);
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
  readonly origin: string;
  readonly server: Server;
  readonly engine: ChildProcess;
}

type Contender = (typeof CONTENDERS)[number];

const CONTENDERS = ['plain JavaScript', 'engine, durable', 'through HTTP, durable'] as const;
const AT_ONCE = 32;
const ROUNDS = 5;
const SLICE_MS = 2000;
