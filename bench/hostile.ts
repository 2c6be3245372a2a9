// What an honest client gets beside twenty hostile senders, against what it gets alone, in one run, and how long one large
// message of each kind blocks the event loop. The senders have their own process. The client asks at a steady rate, so what it
// gets is limited by the server and not by the client.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { heldByLargeMessages } from './hostile/large-messages.ts';
import { endAll, forkPart, nextMessage } from './support/child.ts';
import { HttpPeer } from './support/load.ts';
import { table } from './support/measure.ts';

export async function run(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-hostile-'));
  const agent = fileURLToPath(new URL('./support/agent.mjs', import.meta.url));
  const server = forkPart(new URL('./hostile/server.mjs', import.meta.url), [join(folder, 'data'), agent]);
  try {
    const { port, key, hostileKey } = await nextMessage<{ port: number; key: string; hostileKey: string }>(server);
    await honest(port, key);
    const alone: Honest[] = [];
    const attacked: (readonly [string, Honest])[] = [];
    for (const kind of ATTACKS) {
      alone.push(await honest(port, key));
      const attacker = forkPart(new URL('./hostile/attacker.mjs', import.meta.url), [kind, String(port), hostileKey]);
      await nextMessage(attacker);
      attacked.push([kind, await honest(port, key)]);
      await endAll([attacker]);
    }
    // One round alone has ten requests above its p99, and those of a shared machine vary tenfold: all rounds count together.
    const nobody = together(alone);
    const rows = [['beside', 'goodput', 'ratio', 'p50', 'p99', 'ratio'], row('nobody', nobody, '', '')];
    const shortfalls: string[] = [];
    for (const [kind, beside] of attacked) {
      const goodput = beside.perSecond / nobody.perSecond;
      const slower = beside.p99 / nobody.p99;
      rows.push(row(kind, beside, goodput.toFixed(2), `${slower.toFixed(1)} ×`));
      if (goodput < 0.9) shortfalls.push(`${kind}: ${goodput.toFixed(2)} of the goodput is left, at least 0.9 wanted`);
      if (slower > 4) shortfalls.push(`${kind}: p99 is ${slower.toFixed(1)} × as long, at most 4 wanted`);
    }
    console.log(table(rows));
    console.log(`\n${SENDERS} senders. Goodput beside them at least 0.9 of that alone, p99 at most 4 ×.\n`);
    await endAll([server]);
    return [...shortfalls, ...(await largeMessages(folder))];
  } finally {
    await endAll([server]);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How long one large message blocks the event loop. */
async function largeMessages(folder: string): Promise<string[]> {
  const held = await heldByLargeMessages(folder);
  const rows = held.map(({ kind, ms, elapsedMs }) => [kind, `${ms.toFixed(0)} ms`, `${elapsedMs.toFixed(0)} ms`]);
  console.log(table([['one message near the limits', 'event loop held', 'by the clock'], ...rows]));
  console.log(`\nAt most ${MOST_HELD_MS} ms each.`);
  return held
    .filter(({ ms }) => ms > MOST_HELD_MS)
    .map(({ kind, ms }) => `${kind}: the event loop was held for ${ms.toFixed(0)} ms, at most ${MOST_HELD_MS} wanted`);
}

/** Asks at a steady rate; a request that is late because the one before it was counts as late. */
async function honest(port: number, key: string): Promise<Honest> {
  const latencies: number[] = [];
  const start = performance.now();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, connection) => {
      const peer = await HttpPeer.open(port);
      for (let sent = 0; sent < ROUNDS; sent += 1) {
        const due = start + sent * EVERY_MS + (connection * EVERY_MS) / CONNECTIONS;
        const wait = due - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        if (performance.now() - start > 2 * ROUNDS * EVERY_MS) break;
        await peer.exchange(request(port, key));
        latencies.push(performance.now() - Math.min(due, performance.now()));
      }
      peer.close();
    }),
  );
  return figures(latencies, (performance.now() - start) / 1000);
}

function together(rounds: readonly Honest[]): Honest {
  return figures(
    rounds.flatMap(({ latencies }) => latencies),
    rounds.reduce((sum, { seconds }) => sum + seconds, 0),
  );
}

function figures(latencies: readonly number[], seconds: number): Honest {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { latencies, seconds, perSecond: sorted.length / seconds, p50: at(0.5), p99: at(0.99) };
}

interface Honest {
  readonly latencies: readonly number[];
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

function request(port: number, key: string): string {
  const body = JSON.stringify({ method: 'chat.send', params: { content: 'how are you' } });
  return `POST /e2a HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

function row(name: string, { perSecond, p50, p99 }: Honest, goodput: string, slower: string): string[] {
  return [name, `${perSecond.toFixed(0)}/s`, goodput, `${p50.toFixed(1)} ms`, `${p99.toFixed(1)} ms`, slower];
}

const ATTACKS = [
  'nested arrays',
  'deep nesting',
  'wide objects',
  'junk signatures',
  'last byte withheld',
  'WebSocket flood',
  'nested arrays, with a key',
];
const SENDERS = 20;
const MOST_HELD_MS = 50;
/** Two hundred requests a second, for five seconds. */
const CONNECTIONS = 10;
const EVERY_MS = 50;
const ROUNDS = 100;
