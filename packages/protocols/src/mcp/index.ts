export { AnswerFold, type AnswerFoldOptions, type McpTargetKind, REQUEST_ID_META, textBlock } from './answer-fold.ts';
export { decodeMcpParams, type McpParams } from './decode.ts';
export { canElicit, elicitation } from './elicitation.ts';
export { isModern, type McpHeaders, type ModernClient, metaOf, readModern, unsupportedVersion } from './era.ts';
export { errorMember, MCP_CODES, type McpError, mcpError, mcpErrorOf } from './errors.ts';
export type {
  CallToolParams,
  CompleteParams,
  GetPromptParams,
  InitializeParams,
  ListenParams,
  PageParams,
  ReadResourceParams,
  TaskParams,
} from './shapes.ts';
export { uniqueToolNames } from './tool-names.ts';
export {
  legacyVersionFor,
  MCP_LEGACY_VERSIONS,
  MCP_META,
  MCP_MODERN_VERSION,
  MCP_TASKS,
  MCP_VERSIONS,
} from './versions.ts';
