import { ApiCall } from './operations/api-call.ts';
import { AskApproval } from './operations/ask-approval.ts';
import { Calculate } from './operations/calculate.ts';
import { CallAgent } from './operations/call-agent.ts';
import { CallTool } from './operations/call-tool.ts';
import { Conditional } from './operations/conditional.ts';
import { ConvertTimezone } from './operations/convert-timezone.ts';
import { DateCalculation } from './operations/date-calculation.ts';
import type { OperationDescription } from './operations/description.ts';
import { EncodeDecode } from './operations/encode-decode.ts';
import { ExtractText } from './operations/extract-text.ts';
import { FilterData } from './operations/filter-data.ts';
import { FormatText } from './operations/format-text.ts';
import { GetCurrentDateTime } from './operations/get-current-date-time.ts';
import { LoadData } from './operations/load-data.ts';
import { Loop } from './operations/loop.ts';
import { MergeData } from './operations/merge-data.ts';
import { RunWorkflow } from './operations/run-workflow.ts';
import { StoreData } from './operations/store-data.ts';
import { TransformData } from './operations/transform-data.ts';
import { ValidateData } from './operations/validate-data.ts';
import { Wait } from './operations/wait.ts';

/**
 * Every built-in operation: the spec's eight, eight more, three that call through the hub, and one that asks a person.
 * A new one is a line here.
 */
export const OPERATIONS = {
  ApiCall,
  FilterData,
  TransformData,
  Conditional,
  Loop,
  StoreData,
  LoadData,
  Wait,
  MergeData,
  GetCurrentDateTime,
  ConvertTimezone,
  DateCalculation,
  FormatText,
  ExtractText,
  ValidateData,
  Calculate,
  EncodeDecode,
  CallTool,
  CallAgent,
  RunWorkflow,
  AskApproval,
} as const satisfies Record<string, OperationDescription>;

export type OperationName = keyof typeof OPERATIONS;

export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly OperationName[];

/** Custom operations of a server, by name. */
export type OwnOperations = Readonly<Record<string, OperationDescription>>;

/** The description of an operation by its name on the wire; `undefined` for an unknown name. */
export function operationNamed(name: string, own: OwnOperations = {}): OperationDescription | undefined {
  if (Object.hasOwn(OPERATIONS, name)) return OPERATIONS[name as OperationName];
  return Object.hasOwn(own, name) ? own[name] : undefined;
}

/** The names of all operations, built-in and custom. */
export function namesWith(own: OwnOperations = {}): readonly string[] {
  return [...OPERATION_NAMES, ...Object.keys(own)];
}
