import type { Json, JsonObject, NewQuestion, QuestionAnswer } from '@dragoman/protocols';
import type { OperationDescription, Path } from '@dragoman/protocols/a2e-workflow';
import type { Account } from './budget.ts';
import type { ApiAnswer, ApiRequest, StoreWrite } from './effects.ts';

/**
 * One operation of the catalogue. `Config` is the shape that its schema describes; `compile` is called only with a
 * configuration that matched the schema.
 */
export interface Operation<Config = never> {
  readonly description: OperationDescription;
  /** Seconds for which a result may be reused for the same inputs (A2E, Caching). Only for pure operations. */
  readonly cacheFor?: number;
  /**
   * Whether it may compute long even over little data with this configuration. Then it never runs on the main thread.
   */
  readonly isHeavy?: (config: Config) => boolean;
  /** Whether it has an outside effect or waits with this configuration. */
  readonly hasEffect?: (config: Config) => boolean;
  /** A number if an earlier engine behaved differently with this configuration: the plan's hash then differs, too. */
  readonly revision?: (config: Config) => number | undefined;
  /** Each run counts as an API call. */
  readonly callsApi?: true;
  /** Compiles a configuration, once for all runs. Reports as problems what a schema cannot check. */
  compile(config: Config, compiling: Compiling): Work;
}

/** A compiled operation. It returns a promise only if it waits. */
export type Work = (step: StepContext) => Json | Promise<Json>;

export interface Compiling {
  /** Parses a path. It is valid, because the schema was checked before. */
  path(text: string): Path;
  /** Makes the plan invalid. `pointer` is relative to the configuration. */
  problem(pointer: string, message: string, suggestion?: string): void;
}

/** The view of an operation on its execution. */
export interface StepContext {
  readonly operationId: string;
  readonly account: Account;
  /** The value at a path. A missing value is a DataError that names the nearest fix. */
  read(path: Path): Json;
  /** The value at a path; `undefined` when it does not exist. */
  find(path: Path): Json | undefined;
  /** An upper bound of the size of the value at a path, in bytes of JSON. */
  bytesAt(path: Path): number;
  /** Call it before a large value is created; see `AskMemory`. */
  askMemory(bytes: number): void;
  /** Sets an upper bound of the result's size, so that it need not be measured. */
  boundedBy(bytes: number): void;
  /**
   * Sets the lineage of the result, which caches use as its name. Default: from the operation, its configuration and
   * its inputs.
   */
  cameFrom(lineage: string | (() => string)): void;
  /** Sets the JSON text of the result, if it is known, so that the result need not be serialized again. */
  writtenAs(text: string): void;
  call(request: Omit<ApiRequest, 'operationId' | 'carries'>): Promise<ApiAnswer>;
  /** Calls a target of the hub and returns its result. */
  ask(request: TargetCall): Promise<Json>;
  store(write: Omit<StoreWrite, 'operationId' | 'carries'>): Promise<void>;
  wait(milliseconds: number): Promise<void>;
  /** Asks a person and returns the answer. */
  approve(question: NewQuestion): Promise<QuestionAnswer>;
  now(): Promise<number>;
  /** Writes a value in addition to the result, which is written to `outputPath` anyway. */
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
  /** Default: the time that the execution has left. */
  readonly timeoutMs: number | undefined;
}

export interface ItemRun {
  readonly index: number;
  /** Additional values that the operations can read while they run. */
  readonly scope: readonly (readonly [path: Path, value: Json])[];
  readonly operations: readonly string[];
  /** Whether the operations run on a fork of the data, which `adopt` merges later. */
  readonly apart: boolean;
  /** The scope contains only parts of the input, no results of earlier items. */
  readonly independent?: true;
}

export interface ItemResult {
  readonly value: Json;
  /** An upper bound of the size of the value. */
  readonly bytes: number;
  /** Merges the writes of the item into the data of the loop. */
  adopt(): void;
}
