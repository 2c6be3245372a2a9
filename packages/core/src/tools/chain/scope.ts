import type { Json, JsonObject } from '@dragoman/protocols';

/**
 * The scope of expressions in a chain: its input, directly and under `input`, and the output of every node by its id.
 * The item of a map takes precedence over both. Names are looked up in place, because assembling everything for each
 * node would copy an input of perhaps 100,000 members each time.
 */
export class Scope {
  readonly #input: JsonObject;
  readonly #outputs: ReadonlyMap<string, Json>;
  readonly #item: JsonObject;
  readonly #onWhole: (whole: JsonObject) => void;
  /** Assembled once, on first use. */
  #whole: JsonObject | undefined;

  constructor(input: JsonObject, { outputs = NO_OUTPUTS, item = NO_ITEM, onWhole = ignore }: ScopeGiven = {}) {
    this.#input = input;
    this.#outputs = outputs;
    this.#item = item;
    this.#onWhole = onWhole;
  }

  /** The value of `$.name`; `undefined` if it does not exist. */
  member(name: string): Json | undefined {
    if (Object.hasOwn(this.#item, name)) return this.#item[name];
    if (this.#outputs.has(name)) return this.#outputs.get(name);
    if (Object.hasOwn(this.#input, name)) return this.#input[name];
    return name === 'input' ? this.#input : undefined;
  }

  /** The value of `$`: everything, as of its first use. */
  whole(): JsonObject {
    if (this.#whole !== undefined) return this.#whole;
    this.#whole = { input: this.#input, ...this.#input, ...Object.fromEntries(this.#outputs), ...this.#item };
    this.#onWhole(this.#whole);
    return this.#whole;
  }
}

export interface ScopeGiven {
  readonly outputs?: ReadonlyMap<string, Json>;
  /** The item of a map and its index. */
  readonly item?: JsonObject | undefined;
  /** Called when `$` was assembled. */
  readonly onWhole?: (whole: JsonObject) => void;
}

function ignore(): void {}

const NO_OUTPUTS: ReadonlyMap<string, Json> = new Map();
const NO_ITEM: JsonObject = {};
