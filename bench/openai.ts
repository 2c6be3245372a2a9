// Streamed chat completions: an agent of this server, every chunk journaled, against a bare loop that writes the same chunks.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endAll, forkPart, nextMessage } from './support/child.ts';
import { load } from './support/load.ts';
import { inTurns, median, medianRatio, table } from './support/measure.ts';

export async function run(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const children: ChildProcess[] = [];
  const start = async (file: string, args: readonly string[] = []) => {
    const child = forkPart(new URL(file, import.meta.url), args);
    children.push(child);
    return nextMessage<Started>(child);
  };
  try {
    const agent = fileURLToPath(new URL('./openai/agent.mjs', import.meta.url));
    const contenders = {
      ours: await start('./e2a/server.mjs', [join(folder, 'data'), 'sqlite', agent]),
      bare: await start('./openai/bare.mjs'),
    };
    const rounds = await inTurns(contenders, ROUNDS, (server) =>
      load({ port: server.port, connections: 8, milliseconds: 1200, next: () => completion(server) }),
    );
    const rows = (['ours', 'bare'] as const).map((name) => [
      name,
      (median(rounds.map((round) => round[name].perSecond)) * WORDS).toFixed(0),
      median(rounds.map((round) => round[name].p50)).toFixed(1),
      median(rounds.map((round) => round[name].p99)).toFixed(1),
    ]);
    console.log(table([[`${WORDS} chunks, 8 at once`, 'chunks/s', 'p50 ms', 'p99 ms'], ...rows]));
    const ratio = medianRatio(rounds, 'ours', 'bare', ({ perSecond }) => perSecond);
    const summary = `streamed chat completions: ${ratio.toFixed(2)} × a bare loop`;
    console.log(`${summary}, at least ${WANTED} × wanted`);
    return ratio < WANTED ? [`${summary}, ${WANTED} × wanted`] : [];
  } finally {
    await endAll(children);
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Started {
  readonly port: number;
  readonly key?: string;
}

/** As the bytes of a whole HTTP request. */
function completion({ port, key = 'none' }: Started): string {
  const body = JSON.stringify({ model: 'bench', stream: true, messages: [{ role: 'user', content: String(WORDS) }] });
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

const WORDS = 500;
const ROUNDS = 5;
const WANTED = 0.5;
