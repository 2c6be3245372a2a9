import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '@dragoman/protocols';
import type { Principal } from '../call/principal.ts';
import type { Clock, Log } from '../ports/ports.ts';
import { refuse } from '../refusals/refused.ts';
import { asWritten, type WordHit } from '../search/word-index.ts';
import type { KnowledgeBases } from './bases.ts';
import type { SearchRequest } from './definition.ts';
import { type Embedder, nearness } from './embedder.ts';
import { MeaningIndex } from './meaning-index.ts';
import { nameMatch } from './name-match.ts';
import { type Likeness, scoresOf, WEIGHTS, type Weights } from './ranking.ts';
import type { Source } from './thing.ts';
import { type Entry, ThingIndex } from './thing-index.ts';
import { withinBudget } from './token-budget.ts';

export interface KnowledgeOptions {
  readonly sources: readonly Source[];
  readonly bases: KnowledgeBases;
  readonly clock: Clock;
  readonly log: Log;
  /** Default: none, and the search uses words only. */
  readonly embedder?: Embedder;
  readonly weights?: Weights;
}

/** The answer to a search, as callers receive it. */
export interface Found {
  readonly query: string;
  readonly results: JsonObject[];
  readonly count: number;
  /** How the hits were found: `words` without an encoder, or if it fails. */
  readonly ranking: 'words' | 'words+meaning';
  /** The number of entries without vectors, which were compared by words only. */
  readonly pending?: number;
  /** With a budget: about how long the results are, and how many did not fit. */
  readonly tokens?: number;
  readonly left_out?: number;
  /** On request: the schema of `operation` in a workflow line, with only the operations found. */
  readonly partial_schema?: JsonObject;
}

/** Searches the resources of a caller by words and by meaning. The first search fills the index. */
export class KnowledgeSearch implements AsyncDisposable {
  readonly #bases: KnowledgeBases;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #embedder: Embedder | undefined;
  readonly #meaning: MeaningIndex | undefined;
  readonly #weights: Weights;
  readonly #index: ThingIndex;

  constructor({ sources, bases, clock, log, embedder, weights = WEIGHTS }: KnowledgeOptions) {
    this.#bases = bases;
    this.#clock = clock;
    this.#log = log;
    this.#embedder = embedder;
    this.#weights = weights;
    this.#meaning = embedder === undefined ? undefined : new MeaningIndex({ embedder, log });
    this.#index = new ThingIndex({ sources, ...(this.#meaning !== undefined && { meaning: this.#meaning }) });
  }

  async search(principal: Principal, request: SearchRequest): Promise<Found> {
    const { query, kb_id: baseId, type, top_k: topK = 5 } = request;
    if (baseId !== undefined && !this.#bases.permits(principal, baseId)) {
      refuse('not_found', { suggestions: ['GET /api/v1/knowledge/bases lists yours'] }, 'Knowledge base not found.');
    }
    const [vector] = await Promise.all([this.#vectorOf(query), this.#index.update()]);
    const entries = this.#index.entriesFor(principal).filter(({ thing }) => {
      return (type === undefined || thing.type === type) && (baseId === undefined || thing.baseId === baseId);
    });
    const keys = new Set(entries.map(({ key }) => key));
    const words = this.#index.words.search(query, keys, this.#weights.related);
    const compared = await this.#compare(entries, words, vector);
    const scores = scoresOf(
      compared.map(({ likeness }) => likeness),
      this.#weights,
    );
    const hits = compared
      .map((each, index) => ({ ...each, score: scores[index] ?? 0, named: nameMatch(query, each.entry.thing) }))
      .filter(({ likeness, near, named }) => named > 0 || likeness.words > 0 || (near?.nearness ?? -1) >= TOO_FAR)
      // An exact name match comes first.
      .sort((a, b) => b.named - a.named || b.score - a.score);
    const ranking = vector === undefined ? 'words' : 'words+meaning';
    const pending = compared.filter(({ likeness }) => likeness.whole === undefined).length;
    return {
      ...answerOf(withoutWholes(hits, topK), request),
      ranking,
      ...(vector !== undefined && pending > 0 && { pending }),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#embedder?.[Symbol.asyncDispose]();
  }

  /**
   * The vector of a query; `undefined` when there is no encoder, it fails, or it takes too long. A search waits for an
   * encoder that is starting, so that its answer does not depend on whether others searched a moment ago.
   */
  async #vectorOf(query: string): Promise<Float32Array | undefined> {
    const embedder = this.#embedder;
    if (embedder === undefined) return undefined;
    const late = new AbortController();
    const tooLong = this.#clock.wait(PATIENCE_MS, late.signal).then(
      () => undefined,
      () => undefined,
    );
    try {
      const embedding = embedder.whenReady().then((isReady) => (isReady ? embedder.embed([query]) : undefined));
      const vectors = await Promise.race([embedding, tooLong]);
      return vectors?.[0];
    } catch (error) {
      this.#log.debug({ error: String(error) }, 'a query was answered without search by meaning');
      return undefined;
    } finally {
      late.abort();
    }
  }

  /** Compares the entries in slices, so that other requests get their turn in between. */
  async #compare(
    entries: readonly Entry[],
    words: ReadonlyMap<string, WordHit>,
    vector: Float32Array | undefined,
  ): Promise<Compared[]> {
    const compared: Compared[] = [];
    for (const entry of entries) {
      if (compared.length % AT_ONCE === AT_ONCE - 1) await nextTurn();
      const hit = words.get(entry.key);
      const near = vector === undefined ? undefined : this.#nearest(entry, vector);
      const likeness = { words: hit?.score ?? 0, whole: near?.whole, sentence: near?.nearness };
      compared.push({ entry, likeness, near, hit });
    }
    return compared;
  }

  #nearest({ passages }: Entry, vector: Float32Array): Near | undefined {
    const whole = this.#meaning?.vectorOf(passages.whole);
    if (whole === undefined) return undefined;
    let near: Near = { whole: nearness(vector, whole), nearness: -1, passage: passages.whole };
    for (const passage of passages.sentences) {
      const other = this.#meaning?.vectorOf(passage);
      if (other === undefined) return undefined;
      const value = nearness(vector, other);
      if (value > near.nearness) near = { ...near, nearness: value, passage };
    }
    return near;
  }
}

interface Near {
  readonly whole: number;
  /** The nearness of the nearest sentence. */
  readonly nearness: number;
  readonly passage: string;
}

interface Compared {
  readonly entry: Entry;
  readonly likeness: Likeness;
  readonly near: Near | undefined;
  readonly hit: WordHit | undefined;
}

type Hit = Compared & { readonly score: number; readonly named: number };

/** The best hits. An API is left out if one of its endpoints is among them, unless the query is its name. */
function withoutWholes(hits: readonly Hit[], topK: number): Hit[] {
  const named = new Set(hits.slice(0, 2 * topK).map(({ entry }) => entry.thing.partOf));
  return hits.filter((hit) => hit.named === 2 || !named.has(hit.entry.key)).slice(0, topK);
}

function answerOf(
  hits: readonly Hit[],
  { query, token_budget, partial_schema = false }: SearchRequest,
): Omit<Found, 'ranking'> {
  const forms = hits.map((hit) => ({ whole: hitJson(hit, query, partial_schema), short: shortJson(hit) }));
  const { kept, tokens } = withinBudget(forms, token_budget ?? Number.POSITIVE_INFINITY);
  // Schemas count against the budget with their hits, but are returned together.
  const schemas = kept.flatMap(({ schema, id }) => (schema === undefined ? [] : [[String(id), schema] as const]));
  const results = kept.map(({ schema: _, ...rest }) => rest);
  return {
    query,
    results,
    count: results.length,
    ...(token_budget !== undefined && { tokens, left_out: hits.length - results.length }),
    ...(partial_schema && { partial_schema: operationSchema(Object.fromEntries(schemas)) }),
  };
}

function hitJson(found: Hit, query: string, withSchema: boolean): JsonObject {
  const { entry, near, hit: byWords } = found;
  const { type, id, name, text, baseId, details, schema } = entry.thing;
  return {
    type,
    id,
    name,
    ...(baseId !== undefined && { kb_id: baseId }),
    text,
    ...details,
    score: rounded(found.score),
    why: {
      words: asWritten(query, byWords?.words ?? []),
      related: asWritten(`${name} ${text}`, byWords?.related ?? []),
      ...(near !== undefined && { meaning: rounded(near.nearness), closest: near.passage }),
    },
    ...(withSchema && schema !== undefined && { schema: schema as JsonObject }),
  };
}

/** The short form of a hit: its first sentence, and the ids with which to request the rest. */
function shortJson({ entry: { thing, passages }, score }: Hit): JsonObject {
  const { type, id, baseId } = thing;
  const [first = ''] = passages.sentences;
  return {
    type,
    id,
    ...(baseId !== undefined && { kb_id: baseId }),
    text: first,
    score: rounded(score),
    shortened: true,
  };
}

/** The schema of the `operation` member of a workflow line, with these operations only. */
function operationSchema(schemas: JsonObject): JsonObject {
  return { type: 'object', properties: schemas, additionalProperties: false, minProperties: 1, maxProperties: 1 };
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** A sentence below this nearness is not about the query. */
const TOO_FAR = 0.2;
/** The time limit for vectors, after which the search uses words only. Longer than the start of the built-in encoder. */
const PATIENCE_MS = 5000;
/** The entries that are compared before other requests get their turn. */
const AT_ONCE = 500;
