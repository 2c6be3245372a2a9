import { type JsonSchema, SCHEMA_BASE, type SchemaSet } from '../schema.ts';
import {
  BeginExecution,
  BundledBegin,
  BundledUpdate,
  Capabilities,
  ErrorBody,
  ExecutionResult,
  Health,
  OperationUpdate,
  operationSchemaId,
  RateLimited,
  RateLimitStatus,
  ValidationReport,
  WorkflowRequest,
} from './message.ts';
import { OPERATION_NAMES, OPERATIONS } from './operation.ts';

const schemas: SchemaSet = {
  dialect: 'a2e-workflow',
  schemas: {
    ...Object.fromEntries(
      OPERATION_NAMES.map((name): [string, JsonSchema] => {
        const { schema, summary } = OPERATIONS[name];
        return [name, { $id: operationSchemaId(name), title: `A2E workflow ${name}`, description: summary, ...schema }];
      }),
    ),
    OperationUpdate: published('operation-update', 'defines an operation', OperationUpdate),
    BeginExecution: published('begin-execution', 'starts an execution', BeginExecution),
    BundledUpdate: published('bundled-operation-update', 'defines operations, other form', BundledUpdate),
    BundledBegin: published('bundled-begin-execution', 'starts an execution, other form', BundledBegin),
    WorkflowRequest: published('workflow-request', 'request body', WorkflowRequest),
    ExecutionResult: published('execution-result', 'execution result', ExecutionResult),
    ErrorBody: published('error', 'error body', ErrorBody),
    RateLimited: published('rate-limited', '429 body', RateLimited),
    ValidationReport: published('validation-report', 'validation report', ValidationReport),
    Capabilities: published('capabilities', 'capabilities', Capabilities),
    RateLimitStatus: published('rate-limit-status', 'rate-limit status', RateLimitStatus),
    Health: published('health', 'health', Health),
  },
};

function published(file: string, title: string, schema: JsonSchema): JsonSchema {
  return { $id: `${SCHEMA_BASE}/a2e-workflow/${file}.json`, title: `A2E workflow: ${title}`, ...schema };
}

export default schemas;
