import { hash } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import type { OperationName, OwnOperations } from '@dragoman/protocols/a2e-workflow';
import type { Operation } from './operation.ts';
import { apiCall } from './operations/api-call.ts';
import { calculate } from './operations/calculate.ts';
import { conditional } from './operations/conditional.ts';
import { convertTimezone } from './operations/convert-timezone.ts';
import { dateCalculation } from './operations/date-calculation.ts';
import { encodeDecode } from './operations/encode-decode.ts';
import { extractText } from './operations/extract-text.ts';
import { filterData } from './operations/filter-data.ts';
import { formatText } from './operations/format-text.ts';
import { getCurrentDateTime } from './operations/get-current-date-time.ts';
import { loop } from './operations/loop.ts';
import { mergeData } from './operations/merge-data.ts';
import { storeData } from './operations/store-data.ts';
import { transformData } from './operations/transform-data.ts';
import { validateData } from './operations/validate-data.ts';
import { wait } from './operations/wait.ts';

/** The operations a server knows: the whitelist of what can happen. */
export class Catalog {
  /** Changes with what an operation does, so that a plan made with another catalogue is another plan. */
  readonly version: string;
  readonly #operations: ReadonlyMap<string, Operation>;

  constructor(operations: Iterable<readonly [name: string, operation: Operation]>) {
    this.#operations = new Map(operations);
    this.version = hash('sha256', `${ENGINE_VERSION} ${[...this.#operations.keys()].join(' ')}`, 'base64url').slice(
      0,
      16,
    );
  }

  find(name: string): Operation | undefined {
    return this.#operations.get(name);
  }

  /** The same with operations of the operator's own; a built-in one cannot be replaced. */
  with(operations: Readonly<Record<string, Operation>>): Catalog {
    const taken = Object.keys(operations).find((name) => this.#operations.has(name));
    if (taken !== undefined) throw new Error(`there is an operation ${taken} already; choose another name`);
    return new Catalog([...this.#operations, ...Object.entries(operations)]);
  }

  /** How those beside the built-in ones are written, for the reader and the checker. */
  get own(): OwnOperations {
    const own = [...this.#operations].filter(([name]) => !Object.hasOwn(OPERATIONS, name));
    return Object.fromEntries(own.map(([name, { description }]) => [name, description]));
  }
}

/** The built-in operations and those that modules of the operator export by name as `operations`. */
export async function loadCatalog(modules: readonly string[]): Promise<Catalog> {
  let catalog = BUILT_IN;
  for (const url of modules) {
    catalog = catalog.with(await operationsIn(url));
  }
  return catalog;
}

/** The operations of a server, and the modules a thread has to read for them. */
export interface LoadedOperations {
  readonly catalog: Catalog;
  /** As URLs. */
  readonly modules: readonly string[];
}

/** Reads the operations of the operator's own from files. Throws with the file that cannot be read, and why. */
export async function loadOperations(files: readonly string[]): Promise<LoadedOperations> {
  const modules = files.map((file) => pathToFileURL(file).href);
  let catalog = BUILT_IN;
  for (const [index, url] of modules.entries()) {
    try {
      catalog = catalog.with(await operationsIn(url));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`the operations in ${files[index]} cannot be used: ${reason}`);
    }
  }
  return { catalog, modules };
}

async function operationsIn(url: string): Promise<Readonly<Record<string, Operation>>> {
  const { operations } = (await import(url)) as { readonly operations?: Readonly<Record<string, Operation>> };
  if (typeof operations !== 'object')
    throw new Error('it must export `operations`: an object with one member for each');
  const { compileSchema } = await import('../tools/compile-schema.ts');
  const checked = Object.entries(operations).map(([name, operation]): [string, Operation] => {
    const { description, compile } = operation;
    if (!/^[A-Z][A-Za-z0-9]{0,63}$/.test(name)) throw new Error(`${name} must be letters and digits after a capital`);
    if (typeof compile !== 'function') throw new Error(`${name}.compile must be a function of the configuration`);
    if (typeof description?.schema !== 'object' || !Array.isArray(description.members)) {
      throw new Error(`${name}.description must have summary, category, schema and members`);
    }
    // What fits is decided by the schema that is published, whatever the module says.
    return [name, { ...operation, description: { ...description, validate: compileSchema(description.schema).all() } }];
  });
  return Object.fromEntries(checked);
}

/** Raised when an operation comes to give another result for the same input. */
const ENGINE_VERSION = 1;

const OPERATIONS = {
  ApiCall: apiCall,
  FilterData: filterData,
  TransformData: transformData,
  Conditional: conditional,
  Loop: loop,
  StoreData: storeData,
  Wait: wait,
  MergeData: mergeData,
  GetCurrentDateTime: getCurrentDateTime,
  ConvertTimezone: convertTimezone,
  DateCalculation: dateCalculation,
  FormatText: formatText,
  ExtractText: extractText,
  ValidateData: validateData,
  Calculate: calculate,
  EncodeDecode: encodeDecode,
} satisfies Record<OperationName, Operation>;

export const BUILT_IN = new Catalog(Object.entries(OPERATIONS));
