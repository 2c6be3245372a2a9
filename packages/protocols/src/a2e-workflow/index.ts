// The exports of `@dragoman/protocols/a2e-workflow`. The files of this folder import each other directly.

export {
  type CheckContext,
  type CheckedApi as Api,
  type CheckedCredential as Credential,
  type CheckedPermissions as Permissions,
  type CheckLimits as Limits,
  DEFAULT_LIMITS,
} from './check/rule.ts';
export { FINDINGS, type FindingCode, type Severity } from './check/severity.ts';
export { isListedEndpoint } from './check/url.ts';
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
export { withCategory } from './error-category.ts';
export { type Expression, isExpression, parseExpression } from './expression.ts';
export { lineFindings } from './line-finding.ts';
export { type Uses, usesOf } from './member.ts';
export {
  BeginExecution,
  Capabilities,
  ERROR_TYPES,
  ErrorBody,
  EXECUTION_STATUSES,
  ExecutionResult,
  HEALTHY_SERVICE,
  type Health,
  LEVELS,
  type Level,
  OperationUpdate,
  RateLimited,
  RateLimitStatus,
  ValidationReport,
  type WorkflowError,
  WorkflowRequest,
} from './message.ts';
export { OPERATION_NAMES, OPERATIONS, type OperationName, type OwnOperations, operationNamed } from './operation.ts';
export { API_METHODS, type ApiCallConfig, DEFAULT_TIMEOUT } from './operations/api-call.ts';
export { type AskApprovalConfig, expiryMs } from './operations/ask-approval.ts';
export type { CalculateConfig } from './operations/calculate.ts';
export type { CallAgentConfig } from './operations/call-agent.ts';
export type { CallToolConfig } from './operations/call-tool.ts';
export type { ConditionalConfig } from './operations/conditional.ts';
export type { ConvertTimezoneConfig } from './operations/convert-timezone.ts';
export type { DateCalculationConfig } from './operations/date-calculation.ts';
export type { Member, OperationDescription, Shape } from './operations/description.ts';
export type { EncodeDecodeConfig } from './operations/encode-decode.ts';
export type { ExtractTextConfig } from './operations/extract-text.ts';
export type { FilterDataConfig } from './operations/filter-data.ts';
export type { FormatTextConfig } from './operations/format-text.ts';
export type { GetCurrentDateTimeConfig } from './operations/get-current-date-time.ts';
export type { LoadDataConfig } from './operations/load-data.ts';
export type { LoopConfig } from './operations/loop.ts';
export type { MergeDataConfig } from './operations/merge-data.ts';
export type { RunWorkflowConfig } from './operations/run-workflow.ts';
export type { StoreDataConfig } from './operations/store-data.ts';
export { aggregateName, aggregation, type TransformDataConfig } from './operations/transform-data.ts';
export type { ValidateDataConfig } from './operations/validate-data.ts';
export type { WaitConfig } from './operations/wait.ts';
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
export { decodeRequest, type WorkflowRunOptions as RunOptions } from './request.ts';
export { runOrder } from './run-order.ts';
export { hasTemplate, parseTemplate, parseUrlTemplate, type Template, type TemplatePart } from './template.ts';
export { isPathReference } from './value.ts';
