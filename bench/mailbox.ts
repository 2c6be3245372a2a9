// The mailbox against bare Node doing the same: messages accepted, durably, against a `node:http` JSON echo; callbacks
// delivered, durably and signed, against a loop over keep-alive connections; and what dead hosts cost the living. Each is taken
// in rounds, in each right beside what it is compared with, and the median of the rounds' ratios counts.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { certificateFor } from './mailbox/certificate.ts';
import { endAll, forkPart, nextMessage } from './support/child.ts';
import { load } from './support/load.ts';
import { inTurns, median, medianRatio, table } from './support/measure.ts';

export async function run(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const children: ChildProcess[] = [];
  const start = async <Ready>(file: string, args: readonly string[] = [], env: Record<string, string> = {}) => {
    const child = forkPart(new URL(`./mailbox/${file}`, import.meta.url), args, env);
    children.push(child);
    return { child, ready: await nextMessage<Ready>(child) };
  };
  try {
    const shortfalls = await accepting(folder, start);
    return [...shortfalls, ...(await delivering(folder, start, children))];
  } finally {
    await endAll(children);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function accepting(folder: string, start: Start): Promise<string[]> {
  const agent = fileURLToPath(new URL('./support/agent.mjs', import.meta.url));
  const bare = await start<{ port: number }>('bare.mjs');
  const serve = (name: string) => start<{ port: number; key: string }>('server.mjs', [join(folder, name), agent]);
  // Each with its own server: what one leaves for later, the other would pay for.
  const contenders = {
    bare: { port: bare.ready.port, key: undefined, metadata: {} },
    'answered at once': { ...(await serve('plain')).ready, metadata: {} },
    'in a thread': { ...(await serve('threads')).ready, metadata: { threadId: 't' } },
  };
  const rounds = await inTurns(contenders, 12, (one) =>
    load({ port: one.port, connections: 64, milliseconds: 1000, next: () => post(one) }),
  );
  const ofBare = (name: keyof typeof contenders) => medianRatio(rounds, name, 'bare', ({ perSecond }) => perSecond);
  console.log(
    table([
      ['messages, 64 connections', 'a second', 'of bare', 'p50', 'p99'],
      ...(Object.keys(contenders) as (keyof typeof contenders)[]).map((name) => [
        name,
        median(rounds.map((round) => round[name].perSecond)).toFixed(0),
        ofBare(name).toFixed(2),
        `${median(rounds.map((round) => round[name].p50)).toFixed(2)} ms`,
        `${median(rounds.map((round) => round[name].p99)).toFixed(2)} ms`,
      ]),
    ]),
  );
  return short('messages accepted and answered a second, of a bare JSON echo', ofBare('answered at once'), 0.35);
}

async function delivering(folder: string, start: Start, children: ChildProcess[]): Promise<string[]> {
  const certificate = certificateFor(60);
  const env = { CERT: certificate.cert, KEY: certificate.key };
  const { ready: places } = await start<Places>('sink.mjs', ['40', '10'], env);
  let runs = 0;
  const time = async (kind: 'bare' | 'outbox', task: Partial<Places> & { count: number }): Promise<number> => {
    const child = forkPart(new URL('./mailbox/deliver.mjs', import.meta.url), []);
    children.push(child);
    runs += 1;
    child.send({
      kind,
      answering: places.answering,
      hanging: [],
      ca: certificate.ca,
      folder: join(folder, `${runs}`),
      ...task,
    });
    return (await nextMessage<{ milliseconds: number }>(child)).milliseconds;
  };
  const few = places.answering.slice(0, 8);
  const kinds = { bare: 'bare', outbox: 'outbox' } as const;
  const rounds = await inTurns(
    kinds,
    5,
    async (kind) => (COUNT / (await time(kind, { answering: few, count: COUNT }))) * 1000,
  );
  const ofBare = (kind: keyof typeof kinds) => medianRatio(rounds, kind, 'bare', Number);
  console.log(
    `\n${table([
      [`${COUNT} callbacks to 8 hosts, https`, 'a second', 'of bare'],
      ...Object.values(kinds).map((kind) => [
        kind,
        median(rounds.map((round) => round[kind])).toFixed(0),
        ofBare(kind).toFixed(2),
      ]),
    ])}`,
  );
  const alone = await time('outbox', { count: 8000 });
  const beside = await time('outbox', { count: 10_000, hanging: places.hanging });
  console.log(
    `\n10,000 callbacks due at once to 50 hosts, 10 of them dead: the 8,000 to the living ones took ${beside.toFixed(0)} ms, ` +
      `and ${alone.toFixed(0)} ms without the dead: ${(beside / alone).toFixed(2)} ×`,
  );
  const late =
    beside / alone > 1.5 ? [`living hosts beside dead ones: ${(beside / alone).toFixed(2)} ×, at most 1.5 wanted`] : [];
  return [...short('callbacks delivered a second, of a bare keep-alive loop', ofBare('outbox'), 0.4), ...late];
}

type Start = <Ready>(
  file: string,
  args?: readonly string[],
  env?: Record<string, string>,
) => Promise<{ child: ChildProcess; ready: Ready }>;

interface Places {
  readonly answering: readonly { host: string; port: number }[];
  readonly hanging: readonly { host: string; port: number }[];
}

let count = 0;

function post({ port, key, metadata }: { port: number; key: string | undefined; metadata: object }): string {
  count += 1;
  const message = { contentType: 'application/json', content: { task: 'analyze', data: 'hello my world' } };
  const body = {
    version: '0.3.0',
    from: { name: 'Bench' },
    message,
    metadata: { messageId: `m${count}`, ...metadata },
  };
  const text = JSON.stringify(body);
  const authorization = key === undefined ? '' : `Authorization: Bearer ${key}\r\n`;
  return `POST /a2a HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${authorization}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

function short(what: string, value: number, bound: number): string[] {
  console.log(`${what}: ${value.toFixed(2)}, at least ${bound}`);
  return value >= bound ? [] : [`${what}: ${value.toFixed(2)}, at least ${bound} wanted`];
}

/** As many as are due at once below: the first thousands are sent by code that is not compiled yet, on both sides. */
const COUNT = 10_000;
