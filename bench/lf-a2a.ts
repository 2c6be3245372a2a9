// Linux Foundation A2A against the official SDK with Express doing the same, in one run: SendMessage, streams and GetTask. The
// SDK keeps its tasks in memory, this server on the disk. Each figure is taken in rounds, in each right beside what it is compared
// with, and the median of the rounds' ratios counts.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { e2aDialect } from '../packages/protocols/src/e2a/dialect.ts';
import { newEnvelope } from '../packages/protocols/src/e2a/envelope.ts';
import type { E2AResponse } from '../packages/protocols/src/e2a/response.ts';
import { foldOptionsOf, TaskFold } from '../packages/protocols/src/lf-a2a/task-fold.ts';
import { endAll, forkPart, nextMessage } from './support/child.ts';
import { HttpPeer, load } from './support/load.ts';
import { inTurns, median, medianRatio, table } from './support/measure.ts';

export async function run(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const children: ChildProcess[] = [];
  const start = async (file: string, args: readonly string[] = []): Promise<Place> => {
    const child = forkPart(new URL(file, import.meta.url), args);
    children.push(child);
    return nextMessage<Place>(child);
  };
  try {
    const agent = fileURLToPath(new URL('./lf-a2a/agent.mjs', import.meta.url));
    const sdk = await start('./lf-a2a/sdk.mjs');
    const durable = await start('./e2a/server.mjs', [folder, 'sqlite', agent]);
    const contenders = { sdk, durable };
    return [
      ...(await measureUnary(contenders)),
      ...(await measureStreams(contenders)),
      ...(await measureReading(contenders)),
      ...measureFold(),
    ];
  } finally {
    await endAll(children);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureUnary(contenders: Contenders): Promise<string[]> {
  const rounds = await inTurns(contenders, 8, (place) =>
    load({ port: place.port, connections: 32, milliseconds: 1000, next: () => post(place, send('hello')) }),
  );
  const ratio = medianRatio(rounds, 'durable', 'sdk', ({ perSecond }) => perSecond);
  const perSecond = (name: keyof Contenders) => median(rounds.map((round) => round[name].perSecond)).toFixed(0);
  console.log(
    table([
      ['SendMessage, 32 connections', 'a second', 'of the SDK'],
      ['SDK in memory', perSecond('sdk'), '1.00'],
      ['this server, durable', perSecond('durable'), ratio.toFixed(2)],
    ]),
  );
  return short('SendMessage a second, of the SDK', ratio, 2);
}

/** A stream of so many pieces, from the request to its end. */
async function measureStreams(contenders: Contenders): Promise<string[]> {
  const shortfalls: string[] = [];
  const rows = [['pieces of a stream', 'SDK, us a piece', 'this server, us a piece', 'ratio']];
  const costs: number[] = [];
  for (const pieces of [100, 1000, 10_000]) {
    // The SDK takes minutes for the longest.
    const all: Partial<Contenders> = pieces > 1000 ? { durable: contenders.durable } : contenders;
    const rounds = await inTurns(all as Contenders, pieces > 1000 ? 3 : 8, async (place) => {
      const peer = await HttpPeer.open(place.port);
      const began = performance.now();
      const repeats = pieces > 100 ? 1 : 10;
      for (let count = 0; count < repeats; count++) {
        await peer.exchange(post(place, { ...send(`frames ${pieces}`), method: 'SendStreamingMessage' }));
      }
      peer.close();
      return (1000 * (performance.now() - began)) / repeats / pieces;
    });
    const ours = median(rounds.map((round) => round.durable));
    costs.push(ours);
    const ratio = pieces > 1000 ? undefined : medianRatio(rounds, 'sdk', 'durable', (cost) => cost);
    const theirs = ratio === undefined ? '–' : median(rounds.map((round) => round.sdk)).toFixed(1);
    rows.push([String(pieces), theirs, ours.toFixed(1), ratio?.toFixed(2) ?? '–']);
    if (pieces === 100) shortfalls.push(...short('streamed events of 100 pieces, of the SDK', ratio ?? 0, 5));
  }
  console.log(table(rows));
  const [few = 1, , many = 1] = costs;
  return [...shortfalls, ...short('cost of a piece in 100 pieces, of that in 10,000', few / many, 0.8)];
}

async function measureReading(contenders: Contenders): Promise<string[]> {
  const ids: Record<string, string> = {};
  for (const [name, place] of Object.entries(contenders)) {
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${place.key}` };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...send('frames 1000') });
    const answer = await fetch(`http://127.0.0.1:${place.port}${pathOf(place)}`, { method: 'POST', headers, body });
    ids[name] = ((await answer.json()) as { result: { task: { id: string } } }).result.task.id;
  }
  const named = Object.fromEntries(
    Object.entries(contenders).map(([name, place]) => [name, { ...place, id: ids[name] }]),
  ) as unknown as Record<keyof Contenders, Place & { id: string }>;
  const rounds = await inTurns(named, 8, (place) =>
    load({
      port: place.port,
      connections: 8,
      milliseconds: 700,
      next: () => post(place, { method: 'GetTask', params: { id: place.id } }),
    }),
  );
  const ratio = medianRatio(rounds, 'durable', 'sdk', ({ perSecond }) => perSecond);
  console.log(
    table([
      ['GetTask of 1,000 pieces', 'a second', 'of the SDK'],
      ['SDK in memory', median(rounds.map(({ sdk }) => sdk.perSecond)).toFixed(0), '1.00'],
      ['this server', median(rounds.map(({ durable }) => durable.perSecond)).toFixed(0), ratio.toFixed(2)],
    ]),
  );
  return short('GetTask of a task of 1,000 pieces, of the SDK', ratio, 5);
}

/** What a frame costs on its way to an event. */
function measureFold(): string[] {
  const envelope = newEnvelope({ request_id: 'r', method: 'chat.send' });
  const chunk = (sequence: number) =>
    ({
      ...(e2aDialect.encode(envelope) as object),
      request_id: 'r',
      sequence,
      is_final: false,
      status: 'in_progress',
      response_kind: 'e2a.chunk',
      timestamp: '2026-01-01T00:00:00.000Z',
      body: { delta_kind: 'text', delta: 'word ' },
    }) as unknown as E2AResponse;
  const frames = Array.from({ length: 10_000 }, (_, sequence) => chunk(sequence));
  const costs = Array.from({ length: 9 }, () => {
    const fold = new TaskFold(foldOptionsOf(envelope, 0));
    const began = process.cpuUsage();
    let length = 0;
    for (const frame of frames) for (const event of fold.apply(frame)) length += JSON.stringify(event).length;
    const { user, system } = process.cpuUsage(began);
    return length === 0 ? Number.POSITIVE_INFINITY : (user + system) / frames.length;
  });
  const cost = median(costs);
  console.log(table([['from a frame to the text of its event', `${cost.toFixed(2)} us of CPU`]]));
  return cost <= 10 ? [] : [`the fold costs ${cost.toFixed(1)} us an event; 10 are allowed`];
}

interface Place {
  readonly port: number;
  /** The SDK asks for none. */
  readonly key?: string;
}

interface Contenders {
  readonly sdk: Place;
  readonly durable: Place;
}

let messages = 0;

function send(text: string) {
  messages += 1;
  const message = { messageId: `m-${messages}`, role: 'ROLE_USER', parts: [{ text }] };
  return { method: 'SendMessage', params: { message } };
}

function pathOf({ key }: Place): string {
  return key === undefined ? '/' : '/lf-a2a';
}

function post(place: Place, call: object): string {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...call });
  const key = place.key === undefined ? '' : `Authorization: Bearer ${place.key}\r\n`;
  return (
    `POST ${pathOf(place)} HTTP/1.1\r\nHost: 127.0.0.1\r\nA2A-Version: 1.0\r\nAccept: text/event-stream, application/json\r\n` +
    `${key}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

function short(what: string, ratio: number, wanted: number): string[] {
  console.log(`${what}: ${ratio.toFixed(2)}, at least ${wanted}`);
  return ratio >= wanted ? [] : [`${what}: ${ratio.toFixed(2)}; wanted ${wanted}`];
}
