// How well a search finds what is meant: questions that share at most a word with their answer, put to the real search over
// the operations and the things of bench/search. The weights were chosen with the tuning half; the other half was never
// looked at.
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { KnowledgeBases } from '../packages/core/src/knowledge/bases.ts';
import { Knowledge } from '../packages/core/src/knowledge/knowledge.ts';
import { WEIGHTS, type Weights } from '../packages/core/src/knowledge/ranking.ts';
import { operationSource } from '../packages/core/src/knowledge/sources/operations.ts';
import { keyOf, type Source, type Thing } from '../packages/core/src/knowledge/thing.ts';
import { ThreadEmbedder } from '../packages/core/src/knowledge/thread-embedder.ts';
import type { Clock, Log } from '../packages/core/src/ports.ts';
import type { Principal } from '../packages/core/src/principal.ts';
import { MemoryStore } from '../packages/core/src/store/memory-store.ts';
import { table } from './measure.ts';

export async function run(): Promise<readonly string[]> {
  const things = read<Listed>('things');
  const halves = { tuning: read<Question>('tuning'), 'held out': read<Question>('held-out') };
  const contenders: Record<string, Knowledge> = {
    'BM25 alone': knowledgeOver(things),
    'meaning alone': knowledgeOver(things, { ...WEIGHTS, words: 0 }),
    combined: knowledgeOver(things, WEIGHTS),
  };
  const rows = [['recall@5', ...Object.keys(halves), 'p50', 'p99', 'longest block']];
  const recalls = new Map<string, number>();
  const shortfalls: string[] = [];
  for (const [name, knowledge] of Object.entries(contenders)) {
    if (name !== 'BM25 alone') await ready(knowledge);
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const times: number[] = [];
    const cells: string[] = [];
    for (const [half, questions] of Object.entries(halves)) {
      let found = 0;
      for (const { query, expect } of questions) {
        const start = performance.now();
        const { results } = await knowledge.search(ANYBODY, { query, top_k: 5 });
        times.push(performance.now() - start);
        if (results.some(({ id }) => id === expect)) found += 1;
      }
      recalls.set(`${name}, ${half}`, found / questions.length);
      cells.push((found / questions.length).toFixed(3));
    }
    delay.disable();
    times.sort((a, b) => a - b);
    const [median, late] = [times[times.length >> 1] ?? 0, times[Math.floor(times.length * 0.99)] ?? 0];
    const block = delay.max / 1e6;
    rows.push([name, ...cells, ...[median, late, block].map((ms) => `${ms.toFixed(1)} ms`)]);
    if (median >= 50) shortfalls.push(`${name}: p50 is ${median.toFixed(1)} ms, less than 50 wanted`);
    if (block > 15)
      shortfalls.push(`${name}: the event loop was blocked for ${block.toFixed(1)} ms, 15 at most wanted`);
    await knowledge[Symbol.asyncDispose]();
  }
  console.log(table(rows));
  const combined = recalls.get('combined, held out') ?? 0;
  const words = recalls.get('BM25 alone, held out') ?? 0;
  const ratio = combined / words;
  console.log(
    `\n${things.length + 16} things; combined / BM25 on the held-out half: ${ratio.toFixed(2)} ×, at least 1.5.`,
  );
  if (combined < 0.8) shortfalls.push(`recall@5 is ${combined.toFixed(3)} on the held-out half, at least 0.80 wanted`);
  if (ratio < 1.5) shortfalls.push(`that is ${ratio.toFixed(2)} × BM25 alone, at least 1.5 wanted`);
  return shortfalls;
}

interface Listed {
  readonly kind: 'api' | 'endpoint' | 'tool';
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly api?: string;
}

interface Question {
  readonly query: string;
  readonly expect: string;
}

function read<Item>(name: string): readonly Item[] {
  return JSON.parse(readFileSync(new URL(`./search/${name}.json`, import.meta.url), 'utf8'));
}

/** The real search; without weights there is no encoder. */
function knowledgeOver(things: readonly Listed[], weights?: Weights): Knowledge {
  const store = new MemoryStore();
  return new Knowledge({
    sources: [operationSource(), sourceOf(things)],
    bases: new KnowledgeBases({ store: store.knowledge, clock }),
    clock,
    log,
    ...(weights !== undefined && { weights, embedder: new ThreadEmbedder({ clock, log }) }),
  });
}

/** As the sources of the server tell APIs, endpoints and tools. */
function sourceOf(listed: readonly Listed[]): Source {
  const texts = new Map(listed.map(({ id, text }) => [id, text]));
  const things = listed.map(
    ({ kind, id, name, text, api }): Thing => ({
      type: kind,
      id,
      name: name.replace(/^[A-Z]+ /, ''),
      text,
      ...(api !== undefined && {
        context: `${api}: ${texts.get(api) ?? ''}`,
        partOf: keyOf({ type: 'api', id: api }),
      }),
      details: {},
    }),
  );
  return { type: 'tool', version: 1, things: () => things, permits: () => true };
}

/** Until the encoder is there and every passage has its vector. */
async function ready(knowledge: Knowledge): Promise<void> {
  for (;;) {
    const { ranking, pending = 0 } = await knowledge.search(ANYBODY, { query: 'anything' });
    if (ranking === 'words+meaning' && pending === 0) return;
    await sleep(50);
  }
}

const clock: Clock = {
  now: () => new Date(),
  elapsed: () => performance.now(),
  wait: async (milliseconds, signal) => {
    await sleep(milliseconds, undefined, signal === undefined ? {} : { signal });
  },
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};

const log: Log = { debug() {}, info() {}, warn: (fields, message) => console.error(message, fields), error() {} };

const all = ['*'];
const ANYBODY: Principal = {
  id: 'anybody',
  role: 'agent',
  permissions: { operations: all, apis: all, credentials: all, agents: all, tools: all },
};
