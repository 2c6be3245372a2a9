import { setImmediate as nextTurn } from 'node:timers/promises';
import { failure, type Json, type JsonObject, show } from '@dragoman/protocols';
import type { ChainNode } from '@dragoman/protocols/a2e-wire';
import { atMost } from '../../json/json-size.ts';
import { failureOf, Refused } from '../../refusals/refused.ts';
import { WireRefused } from '../wire/wire-refused.ts';
import { type ChainError, ChainFault, nodesById, type ReadyNode } from './chain.ts';
import { find, Unclear } from './expression.ts';
import { Scope } from './scope.ts';

/** Runs one step of a chain. Rejects if the step failed. */
export type RunStep = (step: ChainStep) => Promise<Json>;

export interface ChainStep {
  readonly kind: 'tool' | 'skill';
  readonly nodeId: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly signal: AbortSignal;
}

/** The event of a node while the chain runs. */
export interface NodeEvent {
  readonly nodeId: string;
  readonly phase: 'start' | 'done' | 'skip' | 'error';
  readonly output: Json;
  readonly error: string;
}

export interface ChainOutcome {
  readonly success: boolean;
  readonly outputs: JsonObject;
  readonly finalOutput: Json;
  readonly nodesRun: number;
  readonly error: ChainError | null;
}

export interface ChainGiven {
  readonly nodes: readonly ChainNode[];
  readonly entry: string;
  readonly input: JsonObject;
  readonly signal: AbortSignal;
  /** Aborts when the time of the chain is up. */
  readonly over?: AbortSignal;
  readonly runStep: RunStep;
  readonly emit: (event: NodeEvent) => void;
}

/**
 * Runs a chain to its end. Faults and timeouts are in the outcome; it rejects only with the reason of the caller's
 * signal.
 */
export async function runChain(given: ChainGiven): Promise<ChainOutcome> {
  const run = new ChainRun(given);
  try {
    await run.walk();
  } catch (error) {
    if (given.signal.aborted) throw given.signal.reason;
    if (given.over?.aborted === true) run.stop({ code: 'timeout', message: (given.over.reason as Error).message });
    else if (error instanceof ChainFault) run.stop(error.fault);
    else throw error;
  }
  return run.outcome();
}

/**
 * One cursor walks from the entry along `next_node`; a branch decides where it goes, a map runs its node once for each
 * item. If a node fails, its `on_error` decides whether the chain ends, continues with the next node, or continues
 * elsewhere.
 */
class ChainRun {
  readonly #given: ChainGiven;
  readonly #outputs = new Map<string, Json>();
  #finalOutput: Json = null;
  #nodesRun = 0;
  #failed = false;
  #error: ChainError | null = null;
  /** Bytes that the inputs and outputs of further steps may still have. */
  #inputLeft = MOST_INPUT;
  #outputLeft = MOST_OUTPUT;

  readonly #stopped = new AbortController();
  /** Aborts when the caller's signal, the time limit or the chain itself ends. */
  readonly #signal: AbortSignal;

  constructor(given: ChainGiven) {
    const { signal, over } = given;
    this.#given = given;
    this.#signal = AbortSignal.any([signal, this.#stopped.signal, ...(over === undefined ? [] : [over])]);
  }

  async walk(): Promise<void> {
    const { nodes, entry } = this.#given;
    const byId = nodesById(nodes, entry);
    const visited = new Set<string>();
    let next = entry;
    while (next !== '') {
      const node = byId.get(next) as ReadyNode;
      // Synchronous steps and conditions would otherwise block the event loop until the end of the chain.
      if (visited.size > 0) await nextTurn();
      this.#signal.throwIfAborted();
      if (visited.has(next)) throw new ChainFault('chain_cycle', `the chain reached ${JSON.stringify(next)} twice`);
      visited.add(next);
      next = await this.#visit(node, byId);
    }
  }

  /** Ends the chain with an error, and with it the other running items of a map. */
  stop(error: ChainError): void {
    this.#failed = true;
    this.#error = error;
    this.#stopped.abort(new Refused(failure('cancelled', {}, 'The chain has ended.')));
  }

  outcome(): ChainOutcome {
    return {
      success: !this.#failed,
      outputs: Object.fromEntries(this.#outputs),
      finalOutput: this.#finalOutput,
      nodesRun: this.#nodesRun,
      error: this.#error,
    };
  }

  /** The id of the next node; empty at the end. */
  async #visit(node: ReadyNode, byId: ReadonlyMap<string, ReadyNode>): Promise<string> {
    const { node_id: id, next_node: next } = node;
    if (node.kind === 'branch') {
      this.#nodesRun += 1;
      const isTrue = this.#holds(node);
      this.#emit(id, 'done', { output: isTrue });
      return (isTrue ? node.true_node : node.false_node) || next;
    }
    if (!this.#holds(node)) {
      this.#emit(id, 'skip', {});
      return next;
    }
    this.#nodesRun += 1;
    this.#emit(id, 'start', {});
    try {
      const output = node.kind === 'map' ? await this.#map(node, byId) : await this.#step(node);
      this.#keep(id, output);
      this.#emit(id, 'done', { output });
      return next;
    } catch (error) {
      if (this.#signal.aborted || error instanceof ChainFault) throw error;
      return this.#recover(node, error);
    }
  }

  #recover({ node_id: id, on_error, next_node }: ChainNode, error: unknown): string {
    this.#failed = true;
    this.#emit(id, on_error === 'skip' ? 'skip' : 'error', { error: messageOf(error) });
    const fault = nodeFault(`node ${JSON.stringify(id)}`, error);
    if (on_error === 'abort') throw fault;
    this.#keep(id, null);
    this.#error = fault.fault;
    return on_error === 'skip' ? next_node : on_error;
  }

  /**
   * Runs several items at once, because they are independent. The results are in the order of the items; that of a
   * failed item is null.
   */
  async #map(node: ChainNode, byId: ReadonlyMap<string, ReadyNode>): Promise<Json> {
    const mapped = byId.get(node.map_node) as ReadyNode;
    const items = find(node.items_path, this.#scope());
    if (!Array.isArray(items)) {
      const found = items === undefined ? 'but it does not exist' : `but it is ${show(items)}`;
      throw new Error(`items_path ${show(node.items_path)} must give a list, ${found}`);
    }
    if (items.length > MOST_ITEMS) throw new Error(`a map takes at most ${MOST_ITEMS} items; got ${items.length}`);
    const results: Json[] = items.map(() => null);
    const queue = items.entries();
    const work = async () => {
      for (const [index, item] of queue) {
        if (index > 0) await nextTurn();
        this.#signal.throwIfAborted();
        if (!this.#holds(mapped, { item, index })) {
          this.#emit(mapped.node_id, 'skip', {});
          continue;
        }
        this.#emit(mapped.node_id, 'start', {});
        try {
          const output = await this.#step(mapped, { item, index });
          results[index] = output;
          this.#emit(mapped.node_id, 'done', { output });
        } catch (error) {
          if (this.#signal.aborted || error instanceof ChainFault) throw error;
          this.#failed = true;
          this.#error = nodeFault(`item ${index} of node ${JSON.stringify(node.node_id)}`, error).fault;
          this.#emit(mapped.node_id, 'error', { error: messageOf(error) });
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL, items.length) }, work));
    if (items.length > 0) this.#outputs.set(mapped.node_id, results.at(-1) ?? null);
    return results;
  }

  /**
   * Inputs and outputs are counted, because `$` is everything so far: a step that passes it on twice doubles it each
   * time.
   */
  async #step(node: ChainNode, item?: MapItem): Promise<Json> {
    const { kind, node_id: nodeId, name } = node;
    if (kind !== 'tool' && kind !== 'skill') throw new Error(`a ${kind} is no step`);
    const { input, missing } = this.#inputOf(node, item);
    this.#give(input);
    let output: Json;
    try {
      output = await this.#given.runStep({ kind, nodeId, name, input, signal: this.#signal });
    } catch (error) {
      throw new StepFailed(error, nothingFound(missing, node));
    }
    this.#outputLeft -= atMost(output, this.#outputLeft + 1);
    if (this.#outputLeft < 0) throw tooMuch('outputs', MOST_OUTPUT);
    return output;
  }

  /**
   * The input of a step: `input`, overridden by the values of `input_map`. An item of a map is available as `$.item`;
   * without `input` and `input_map` it is the whole input.
   */
  #inputOf({ input, input_map }: ChainNode, item?: MapItem): { input: JsonObject; missing: readonly string[] } {
    const scope = this.#scope(item);
    const missing: string[] = [];
    const mapped = Object.entries(input_map).map(([name, expression]) => {
      const value = find(expression, scope);
      if (value === undefined) missing.push(name);
      return [name, value ?? null];
    });
    const isGiven = mapped.length > 0 || Object.keys(input).length > 0;
    if (item !== undefined && !isGiven) return { input: { item: item.item }, missing };
    return { input: { ...input, ...Object.fromEntries(mapped) }, missing };
  }

  #holds({ node_id, holds }: ReadyNode, item?: MapItem): boolean {
    // Compared values are passed to no tool, so their size is limited here.
    const scope = this.#scope(item, (whole) => this.#give(whole));
    try {
      return holds(scope);
    } catch (error) {
      if (!(error instanceof Unclear)) throw error;
      const words = `condition of ${JSON.stringify(node_id)}: ${error.message}`;
      throw new ChainFault('chain_error', words, error.suggestions);
    }
  }

  #scope(item?: MapItem, onWhole?: (whole: JsonObject) => void): Scope {
    return new Scope(this.#given.input, { outputs: this.#outputs, item, ...(onWhole !== undefined && { onWhole }) });
  }

  #give(value: Json): void {
    this.#inputLeft -= atMost(value, this.#inputLeft + 1);
    if (this.#inputLeft < 0) throw tooMuch('inputs', MOST_INPUT);
  }

  #keep(id: string, output: Json): void {
    this.#outputs.set(id, output);
    this.#finalOutput = output;
  }

  #emit(
    nodeId: string,
    phase: NodeEvent['phase'],
    { output = null, error = '' }: { output?: Json; error?: string },
  ): void {
    this.#given.emit({ nodeId, phase, output, error });
  }
}

/** One item of a map, for the scope of its step. */
type MapItem = { readonly item: Json; readonly index: number };

/** A failed step, with the suggestions of its refusal, and a remark about missing inputs. */
class StepFailed extends Error {
  readonly suggestions: readonly string[];

  constructor(error: unknown, remark: string) {
    super(`${messageOf(error)}${remark}`);
    const named = error instanceof WireRefused ? error.detail['suggestions'] : failureOf(error)?.details.suggestions;
    this.suggestions = Array.isArray(named) ? named.filter((one) => typeof one === 'string') : [];
  }
}

/** A remark that names the inputs that were not found: they are null, which may be why the step failed. */
function nothingFound(missing: readonly string[], { input_map }: ChainNode): string {
  if (missing.length === 0) return '';
  const first = missing.slice(0, MOST_MISSING).map((name) => `at ${show(input_map[name])} for ${show(name)}`);
  const more = missing.length > MOST_MISSING ? ` and ${missing.length - MOST_MISSING} more` : '';
  return `; input_map found nothing ${first.join(', ')}${more}`;
}

function nodeFault(where: string, error: unknown): ChainFault {
  const suggestions = error instanceof StepFailed ? error.suggestions : [];
  return new ChainFault('chain_node_error', `${where}: ${messageOf(error)}`, suggestions);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function tooMuch(what: string, limit: number): ChainFault {
  return new ChainFault(
    'chain_error',
    `the ${what} of all steps of a chain may have at most ${limit} bytes together; pass on only the needed fields`,
  );
}

const MOST_ITEMS = 1_000;
const MOST_MISSING = 3;
const PARALLEL = 8;
const MOST_INPUT = 16_777_216;
/** The answer contains the last output twice and must fit into one line, of which most readers accept 8 MiB. */
const MOST_OUTPUT = 3_145_728;
