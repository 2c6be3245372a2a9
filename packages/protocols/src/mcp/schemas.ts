import { SCHEMA_BASE, type SchemaSet } from '../schema.ts';
import {
  CallToolParams,
  CompleteParams,
  GetPromptParams,
  InitializeParams,
  ListenParams,
  PageParams,
  ReadResourceParams,
  TaskParams,
} from './shapes.ts';

const base = `${SCHEMA_BASE}/mcp`;

const schemas: SchemaSet = {
  dialect: 'mcp',
  schemas: {
    InitializeParams: { $id: `${base}/initialize.json`, title: 'MCP initialize params', ...InitializeParams },
    PageParams: { $id: `${base}/page.json`, title: 'MCP list params', ...PageParams },
    CallToolParams: { $id: `${base}/call-tool.json`, title: 'MCP tools/call params', ...CallToolParams },
    ReadResourceParams: {
      $id: `${base}/read-resource.json`,
      title: 'MCP resources/read params',
      ...ReadResourceParams,
    },
    GetPromptParams: { $id: `${base}/get-prompt.json`, title: 'MCP prompts/get params', ...GetPromptParams },
    CompleteParams: { $id: `${base}/complete.json`, title: 'MCP completion/complete params', ...CompleteParams },
    ListenParams: { $id: `${base}/listen.json`, title: 'MCP subscriptions/listen params', ...ListenParams },
    TaskParams: { $id: `${base}/task.json`, title: 'MCP tasks/get, update and cancel params', ...TaskParams },
  },
};

export default schemas;
