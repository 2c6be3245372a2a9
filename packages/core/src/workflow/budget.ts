import type { Json } from '@dragoman/protocols';
import { atMost } from '../json/json-size.ts';
import { OverBudget } from './step-error.ts';

/** The budgets of one execution. Each is charged before the work. */
export interface Budgets {
  /** Runs of operations; each run in a loop counts. */
  readonly steps: number;
  readonly apiCalls: number;
  /** Bytes of the data model and the results as JSON. */
  readonly dataBytes: number;
  /** Items of one Loop. */
  readonly iterations: number;
  /** Characters of a text that a pattern is matched against. */
  readonly patternText: number;
}

export const DEFAULT_BUDGETS: Budgets = {
  steps: 1000,
  apiCalls: 30,
  dataBytes: 16_777_216,
  iterations: 1000,
  patternText: 1_048_576,
};

/** The given budgets, with defaults for the rest. */
export function wholeBudgets(given: Partial<Budgets> = {}): Budgets {
  return {
    steps: given.steps ?? DEFAULT_BUDGETS.steps,
    apiCalls: given.apiCalls ?? DEFAULT_BUDGETS.apiCalls,
    dataBytes: given.dataBytes ?? DEFAULT_BUDGETS.dataBytes,
    iterations: given.iterations ?? DEFAULT_BUDGETS.iterations,
    patternText: given.patternText ?? DEFAULT_BUDGETS.patternText,
  };
}

/** Thrown when a run exceeds the limits of the main thread: it is run again in a worker thread. */
export class TooLargeHere extends Error {}

/** A value and its size as JSON: exactly `bytes` if `exact`, otherwise at most. */
export interface Sized {
  readonly value: Json;
  readonly bytes: number;
  readonly exact: boolean;
}

/**
 * The account of one execution. The size of each value is an upper bound (filtered data is no larger than its input);
 * values are measured, each once, only when the sum of the bounds exceeds the limit.
 */
export class Account {
  readonly #budgets: Budgets;
  readonly #isTight: boolean;
  #steps = 0;
  #apiCalls = 0;
  #bytes = 0;
  readonly #sized = new Map<string, Entry>();

  /** With `within`, exceeding one of these tighter limits throws `TooLargeHere`. */
  constructor(budgets: Budgets, within?: Within) {
    this.#budgets = within === undefined ? budgets : tighter(budgets, within);
    this.#isTight = within !== undefined;
  }

  get used(): { readonly steps: number; readonly apiCalls: number; readonly dataBytes: number } {
    return { steps: this.#steps, apiCalls: this.#apiCalls, dataBytes: this.#bytes };
  }

  step(): void {
    if (this.#steps >= this.#budgets.steps)
      throw this.#over('steps', this.#budgets.steps, 'operations', 'loop over fewer items');
    this.#steps++;
  }

  apiCall(): void {
    const { apiCalls } = this.#budgets;
    if (this.#apiCalls >= apiCalls)
      throw this.#over('api_calls', apiCalls, 'API calls', 'filter the array before the loop');
    this.#apiCalls++;
  }

  iterations(count: number): void {
    const { iterations } = this.#budgets;
    if (count > iterations) throw this.#over('iterations', iterations, `items in a loop; got ${count}`, LESS);
  }

  patternText(length: number): void {
    const { patternText } = this.#budgets;
    if (length > patternText)
      throw this.#over('pattern_text', patternText, `characters under a pattern; got ${length}`, LESS);
  }

  /** Reserves memory before a large value is created. */
  reserve(bytes: number): void {
    if (this.#bytes + bytes <= this.#budgets.dataBytes) return;
    this.#measure();
    if (this.#bytes + bytes > this.#budgets.dataBytes) throw this.#full();
  }

  /** Charges a value to its holder, in place of the holder's previous value. */
  hold(holder: string, value: Json, bytes: number, exact: boolean): Sized {
    const entry: Entry = { value, bytes, exact };
    this.#bytes += bytes - (this.#sized.get(holder)?.bytes ?? 0);
    this.#sized.set(holder, entry);
    if (this.#bytes > this.#budgets.dataBytes) {
      this.#measure();
      if (this.#bytes > this.#budgets.dataBytes) throw this.#full();
    }
    return entry;
  }

  #measure(): void {
    for (const entry of this.#sized.values()) {
      if (entry.exact) continue;
      const bytes = atMost(entry.value, entry.bytes);
      this.#bytes += bytes - entry.bytes;
      entry.bytes = bytes;
      entry.exact = true;
    }
  }

  #over(budget: string, limit: number, what: string, suggestion: string): Error {
    if (this.#isTight) return new TooLargeHere();
    return new OverBudget(`An execution may have at most ${limit} ${what}.`, {
      details: { budget, limit },
      suggestions: [suggestion],
    });
  }

  #full(): Error {
    return this.#over('data_bytes', this.#budgets.dataBytes, 'bytes of data', 'select the fields that are needed');
  }
}

/** The limits of executions on the main thread. */
export type Within = Pick<Budgets, 'steps' | 'dataBytes'>;

interface Entry {
  readonly value: Json;
  bytes: number;
  exact: boolean;
}

function tighter({ steps, apiCalls, dataBytes, iterations, patternText }: Budgets, within: Within): Budgets {
  return {
    steps: Math.min(steps, within.steps),
    apiCalls,
    dataBytes: Math.min(dataBytes, within.dataBytes),
    iterations,
    patternText,
  };
}

const LESS = 'filter it before';
