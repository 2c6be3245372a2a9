import { isObject, type Json, type JsonObject, pointerTo, segmentsOf, show, valueAt } from '@dragoman/protocols';
import { KEYWORDS, never, type PatternTest, type SchemaPart } from './keywords.ts';
import { linearPattern, writtenOut } from './linear-pattern.ts';
import type { SchemaKind, SchemaNode, SchemaRule } from './schema-node.ts';

/** A JSON Schema as rules. Each part becomes a node once, however often it is referred to, so that a schema may refer to itself. */
export class SchemaDocument {
  readonly root: SchemaNode;
  /** Schemas by their absolute URIs: those with an `$id`, and those with an anchor. */
  readonly #named = new Map<string, Place>();
  readonly #nodes = new Map<Json, SchemaNode>();
  readonly #isTracked: boolean;
  /** The number of parts of all patterns so far. */
  #prepared = 0;

  /** Throws a worded error for unsupported parts of the schema. */
  constructor(schema: JsonObject) {
    const text = JSON.stringify(schema);
    this.#isTracked = text.includes('"unevaluatedProperties":') || text.includes('"unevaluatedItems":');
    const place = { schema, path: '#', base: new URL(BASE) };
    this.#named.set(BASE, place);
    this.#index(place);
    this.root = this.#nodeOf(place);
  }

  /** Finds every `$id` and anchor. Values in `enum` and `const` are not schemas. */
  #index({ schema, path, base }: Place): void {
    if (Array.isArray(schema)) {
      for (const [at, item] of schema.entries()) this.#index({ schema: item, path: below(path, String(at)), base });
    }
    if (!isObject(schema)) return;
    const own = baseOf(schema, base);
    const place = { schema, path, base: own };
    // A document with an `$id` is known by that as well as by `BASE`.
    if (own !== base && !this.#named.has(own.href)) this.#named.set(own.href, place);
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const anchor = schema[keyword];
      if (typeof anchor !== 'string') continue;
      const uri = withFragment(own, anchor);
      // Which one is meant would depend on the path of the check.
      if (keyword === '$dynamicAnchor' && this.#named.has(uri))
        throw new Error(`${path} repeats ${keyword} ${show(anchor)}`);
      this.#named.set(uri, place);
    }
    for (const [name, member] of Object.entries(schema)) {
      if (!VALUES.has(name)) this.#index({ schema: member, path: below(path, name), base: own });
    }
  }

  #nodeOf({ schema, path, base }: Place): SchemaNode {
    const known = this.#nodes.get(schema);
    if (known !== undefined && typeof schema === 'object') return known;
    if (schema === true) return ANYTHING;
    const node: SchemaNode = { rules: NO_RULES, weight: 1, isTracked: this.#isTracked };
    if (schema === false) {
      node.rules = withRule(NO_RULES, 'any', never(path));
      return node;
    }
    if (!isObject(schema)) throw new Error(`${pointerOf(path)} must be a schema; got ${show(schema)}`);
    this.#nodes.set(schema, node);
    const own = baseOf(schema, base);
    const part: SchemaPart = {
      schema,
      path,
      inner: (given, ...at) => this.#nodeOf({ schema: given, path: below(path, ...at), base: own }),
      referred: (reference) => this.#nodeOf(this.#find(reference, own)),
      pattern: (text) => this.#pattern(text),
      refuse: (keyword, expected) => {
        throw new Error(`${pointerOf(below(path, keyword))} must be ${expected}; got ${show(schema[keyword])}`);
      },
      addWeight: (looks) => {
        node.weight += looks;
      },
    };
    let rules = NO_RULES;
    for (const { kind, names, rule } of KEYWORDS) {
      if (!names.some((name) => schema[name] !== undefined)) continue;
      const made = rule(part);
      if (made !== undefined) rules = withRule(rules, kind, made);
    }
    node.rules = rules;
    return node;
  }

  #find(reference: string, base: URL): Place {
    const uri = URL.canParse(reference, base.href) ? new URL(reference, base) : undefined;
    const place = uri && (this.#named.get(uri.href) ?? this.#pointedTo(uri));
    if (place === undefined) throw new Error(`the reference ${show(reference)} does not exist in it`);
    return place;
  }

  /** RFC 6901 §6: a fragment that is a pointer into the schema that the rest of the URI names. */
  #pointedTo(uri: URL): Place | undefined {
    const found = this.#named.get(withFragment(uri, ''));
    const pointer = decoded(uri.hash.slice(1));
    if (found === undefined || pointer === undefined || !/^(?:\/|$)/.test(pointer)) return undefined;
    let base = found.base;
    const segments = segmentsOf(pointer);
    const schema = valueAt(found.schema, pointer);
    if (schema === undefined) return undefined;
    // An `$id` on the way changes the base URI of the schemas below it.
    for (const at of segments.keys()) {
      const above = valueAt(found.schema, pointerTo('', ...segments.slice(0, at)));
      if (isObject(above)) base = baseOf(above, base);
    }
    return { schema, path: below(found.path, ...segments), base };
  }

  /** Neither the text nor the pattern is trusted: a caller sends the one, and perhaps a foreign server the other. */
  #pattern(text: string): PatternTest {
    const parts = writtenOut(text);
    this.#prepared += parts;
    if (this.#prepared > MOST_PREPARED) {
      throw new Error(`with repetitions expanded, its patterns have more than ${MOST_PREPARED} parts in all`);
    }
    const expression = linearPattern(text);
    return (value, run) => {
      run.effort.read(value, parts);
      return expression.matcher(value).find();
    };
  }
}

/** A part of a document. */
interface Place {
  readonly schema: Json;
  readonly path: string;
  /** The base URI of its references. */
  readonly base: URL;
}

type RulesByKind = SchemaNode['rules'];

function withRule(rules: RulesByKind, kind: SchemaKind | 'any', rule: SchemaRule<never>): RulesByKind {
  const more = { ...rules };
  for (const one of kind === 'any' ? KINDS : [kind]) more[one] = [...more[one], rule];
  return more;
}

/**
 * The base URI within a schema. Draft 4 spells `$id` as `id`; up to draft 7, an `$id` that is only a fragment is an
 * anchor.
 */
function baseOf({ $id, id }: JsonObject, base: URL): URL {
  const given = typeof $id === 'string' ? $id : typeof id === 'string' ? id : '';
  return given !== '' && URL.canParse(given, base.href) ? new URL(given, base) : base;
}

function withFragment(uri: URL, fragment: string): string {
  const named = new URL(uri);
  named.hash = fragment;
  return named.href.replace(/#$/, '');
}

function decoded(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}

function below(path: string, ...segments: string[]): string {
  return (
    path +
    pointerTo('', ...segments)
      .split('/')
      .map(encodeURIComponent)
      .join('/')
  );
}

function pointerOf(path: string): string {
  return decodeURIComponent(path.slice(1)) || 'the schema';
}

const KINDS: readonly SchemaKind[] = ['number', 'string', 'array', 'object', 'other'];
const NO_RULES: RulesByKind = { number: [], string: [], array: [], object: [], other: [] };
const ANYTHING: SchemaNode = { rules: NO_RULES, weight: 1, isTracked: false };
const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples']);
/** The base URI of a schema without an `$id` (RFC 3986 §5.1.4). */
const BASE = 'https://schema.invalid/';
/** Compiling one part takes microseconds, so all of them take a fraction of a second. */
const MOST_PREPARED = 20_000;
