import type { Json, JsonObject, NewQuestion, QuestionAnswer } from '@dragoman/protocols';
import type { OperationDescription, Path } from '@dragoman/protocols/a2e-workflow';
import type { Account } from './budget.ts';
import type { ApiAnswer, ApiRequest, StoreWrite } from './effects.ts';

/**
 * One operation of the catalogue: how it is written, and what it does. `Config` is the shape its schema describes; code that
 * calls `compile` has read the configuration by that schema.
 */
export interface Operation<Config = never> {
  readonly description: OperationDescription;
  /** Seconds for which the result may stand for the same inputs (A2E, Caching). Only for pure operations. */
  readonly cacheFor?: number;
  /** With this configuration it may compute long even over little data, so it never runs beside others' work. */
  readonly isHeavy?: (config: Config) => boolean;
  /** With this configuration it has an outside effect or waits, so it is not idempotent. */
  readonly hasEffect?: (config: Config) => boolean;
  /** Names what it does with this configuration, where an earlier engine did something else: that makes another plan. */
  readonly revision?: (config: Config) => number | undefined;
  /** It makes an API call each time it runs. */
  readonly callsApi?: true;
  /** Turns a configuration into work, once for all the times it runs. Reports what no schema can see as a problem. */
  compile(config: Config, compiling: Compiling): Work;
}

/** A compiled operation. It returns a promise only if it waits. */
export type Work = (step: StepContext) => Json | Promise<Json>;

export interface Compiling {
  /** The parts of a path that was read before. */
  path(text: string): Path;
  /** Makes the plan invalid. `pointer` is relative to the configuration. */
  problem(pointer: string, message: string, suggestion?: string): void;
}

/** The view of an operation on its execution. */
export interface StepContext {
  readonly operationId: string;
  readonly account: Account;
  /** The value at a path; a DataError that names the nearest fix when nothing is there. */
  read(path: Path): Json;
  /** The value at a path, `undefined` when nothing is there. */
  find(path: Path): Json | undefined;
  /** An upper bound of the bytes the value at a path has as JSON. */
  bytesAt(path: Path): number;
  /** Reserves memory before a large value is created. */
  askMemory(bytes: number): void;
  /** An upper limit of the result's size, so that it need not be measured. */
  boundedBy(bytes: number): void;
  /** Names the result by its origin. Default: by the operation, its configuration and its inputs. */
  cameFrom(lineage: string | (() => string)): void;
  /** Returns the result as JSON text, which is then reused. */
  writtenAs(text: string): void;
  call(request: Omit<ApiRequest, 'operationId' | 'carries'>): Promise<ApiAnswer>;
  /** The answer of a target of the hub. */
  ask(request: TargetCall): Promise<Json>;
  store(write: Omit<StoreWrite, 'operationId' | 'carries'>): Promise<void>;
  wait(milliseconds: number): Promise<void>;
  /** The answer of a person. */
  approve(question: NewQuestion): Promise<QuestionAnswer>;
  now(): Promise<number>;
  /** Puts a value where later operations can read it; the result itself goes to `outputPath` without it. */
  write(path: Path, value: Json): void;
  /** Runs operations one level deeper and returns the result of the last. */
  run(operations: readonly string[]): Promise<Json>;
  /** Runs operations for one item of an array. */
  runFor(item: ItemRun): Promise<ItemResult>;
}

export interface TargetCall {
  readonly target: string;
  readonly method: string;
  readonly params: JsonObject;
  /** Absent: as long as the execution has left. */
  readonly timeoutMs: number | undefined;
}

export interface ItemRun {
  readonly index: number;
  /** The additional readable places while they run. */
  readonly scope: readonly (readonly [path: Path, value: Json])[];
  readonly operations: readonly string[];
  /** On a fork of the data, which `adopt` merges later. */
  readonly apart: boolean;
  /** The scope has parts of the input, and no results of earlier items. */
  readonly independent?: true;
}

export interface ItemResult {
  readonly value: Json;
  /** An upper bound of the size of the value. */
  readonly bytes: number;
  /** Puts what the item wrote into the data of the loop. */
  adopt(): void;
}
