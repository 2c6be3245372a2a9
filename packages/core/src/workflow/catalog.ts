import { hash } from 'node:crypto';
import type { OperationName, OwnOperations } from '@dragoman/protocols/a2e-workflow';
import type { Operation } from './operation.ts';
import { apiCall } from './operations/api-call.ts';
import { askApproval } from './operations/ask-approval.ts';
import { calculate } from './operations/calculate.ts';
import { callAgent } from './operations/call-agent.ts';
import { callTool } from './operations/call-tool.ts';
import { conditional } from './operations/conditional.ts';
import { convertTimezone } from './operations/convert-timezone.ts';
import { dateCalculation } from './operations/date-calculation.ts';
import { encodeDecode } from './operations/encode-decode.ts';
import { extractText } from './operations/extract-text.ts';
import { filterData } from './operations/filter-data.ts';
import { formatText } from './operations/format-text.ts';
import { getCurrentDateTime } from './operations/get-current-date-time.ts';
import { loadData } from './operations/load-data.ts';
import { loop } from './operations/loop.ts';
import { mergeData } from './operations/merge-data.ts';
import { runWorkflow } from './operations/run-workflow.ts';
import { storeData } from './operations/store-data.ts';
import { transformData } from './operations/transform-data.ts';
import { validateData } from './operations/validate-data.ts';
import { wait } from './operations/wait.ts';

/** The operations that workflows of a server may use. */
export class Catalog {
  /** Changes when an operation changes, so that plans of different catalogues differ. */
  readonly version: string;
  readonly #operations: ReadonlyMap<string, Operation>;

  constructor(operations: Iterable<readonly [name: string, operation: Operation]>) {
    this.#operations = new Map(operations);
    const names = [...this.#operations.keys()].filter((name) => !ADDED.has(name));
    this.version = hash('sha256', `${ENGINE_VERSION} ${names.join(' ')}`, 'base64url').slice(0, 16);
  }

  find(name: string): Operation | undefined {
    return this.#operations.get(name);
  }

  /** Returns this catalogue with the operator's own operations added. A built-in one cannot be replaced. */
  with(operations: Readonly<Record<string, Operation>>): Catalog {
    const taken = Object.keys(operations).find((name) => this.#operations.has(name));
    if (taken !== undefined) throw new Error(`the operation ${taken} already exists; choose another name`);
    return new Catalog([...this.#operations, ...Object.entries(operations)]);
  }

  /** The descriptions of the operator's own operations, for the reader and the checker. */
  get own(): OwnOperations {
    const own = [...this.#operations].filter(([name]) => !Object.hasOwn(OPERATIONS, name));
    return Object.fromEntries(own.map(([name, { description }]) => [name, description]));
  }
}

/** Increased when an operation returns another result for the same input. */
const ENGINE_VERSION = 1;
/**
 * Operations added after version 1. They are not part of the version, so a plan that uses none of them keeps its hash
 * and can be resumed.
 */
const ADDED: ReadonlySet<string> = new Set(['LoadData', 'AskApproval']);

const OPERATIONS = {
  ApiCall: apiCall,
  FilterData: filterData,
  TransformData: transformData,
  Conditional: conditional,
  Loop: loop,
  StoreData: storeData,
  LoadData: loadData,
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
  CallTool: callTool,
  CallAgent: callAgent,
  RunWorkflow: runWorkflow,
  AskApproval: askApproval,
} satisfies Record<OperationName, Operation>;

export const BUILT_IN = new Catalog(Object.entries(OPERATIONS));
