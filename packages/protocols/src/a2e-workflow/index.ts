// The public face of `@dragoman/protocols/a2e-workflow`. Nothing in here is imported from it.

export {
  type Api,
  type CheckContext,
  type Credential,
  DEFAULT_LIMITS,
  type Limits,
  type Permissions,
} from './check/rule.ts';
export { FINDINGS, type FindingCode, type Severity } from './check/severity.ts';
export { checkWorkflow, type Finding } from './check.ts';
export { a2eWorkflowDialect, type WorkflowMessage } from './dialect.ts';
export {
  encodeWorkflow,
  parseWorkflow,
  type ReadOptions,
  readWorkflow,
  type Workflow,
  type WorkflowOperation,
} from './document.ts';
export {
  BeginExecution,
  Capabilities,
  ERROR_TYPES,
  ErrorBody,
  EXECUTION_STATUSES,
  ExecutionResult,
  LEVELS,
  type Level,
  OperationUpdate,
  RateLimited,
  RateLimitStatus,
  ValidationReport,
  WorkflowRequest,
} from './message.ts';
export { OPERATION_NAMES, OPERATIONS, type OperationName, operationNamed } from './operation.ts';
export { DEFAULT_TIMEOUT } from './operations/api-call.ts';
export type { Member, OperationDescription, Shape } from './operations/description.ts';
export {
  canonicalPath,
  covers,
  formatPath,
  type Path,
  type PathFault,
  type PathRoot,
  type PathSegment,
  parsePath,
} from './path.ts';
export { reportOf, validateWorkflow } from './report.ts';
export type { RunOptions } from './request.ts';
export { parseTemplate, parseUrlTemplate, type Template, type TemplatePart } from './template.ts';
