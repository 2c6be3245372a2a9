import type { Issue } from '../outcome.ts';
import { segmentsOf } from '../pointer.ts';

/** An unknown field with a word that agents use for one we know: the known one is suggested instead of removing it. */
export function withSynonym(operation: string, issue: Issue): Issue {
  if (issue.code !== 'unknown_field') return issue;
  const word = segmentsOf(issue.pointer).at(-1)?.toLowerCase() ?? '';
  const known = SYNONYMS.get(operation)?.get(word) ?? SYNONYMS.get('*')?.get(word);
  return known === undefined ? issue : { ...issue, suggestion: `did you mean ${known}?` };
}

/** `{"type": "Wait", "duration": 5}`: the name of an operation where its member belongs. */
export function nestingFix(operation: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  const { type, name, operation: inner } = operation;
  const written = [type, name, inner].find((word) => names.some((known) => known === word));
  return typeof written === 'string'
    ? `write {${JSON.stringify(written)}: {…}} with the other members inside`
    : undefined;
}

/** By operation, what agents write for each member; `*` is every operation. */
const WORDS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  '*': {
    inputPath: ['input', 'source', 'from', 'datapath', 'data', 'path', 'in'],
    outputPath: ['output', 'target', 'to', 'resultpath', 'result', 'saveas', 'out', 'destination'],
  },
  ApiCall: {
    url: ['endpoint', 'uri', 'href', 'address', 'path'],
    method: ['verb', 'httpmethod', 'type'],
    body: ['data', 'payload', 'json', 'content'],
    query: ['params', 'queryparams', 'parameters', 'qs', 'search'],
    timeout: ['timeoutms', 'timeout_ms', 'deadline'],
  },
  TransformData: {
    order: ['direction', 'sortorder', 'sort', 'dir'],
    operation: ['function', 'func', 'aggregation', 'aggregate', 'op', 'method'],
    field: ['by', 'key', 'sortby', 'groupby', 'column', 'property'],
    fields: ['mapping', 'mappings', 'columns', 'keys', 'properties'],
    transform: ['transformation', 'type', 'kind'],
    count: ['limit', 'size', 'n', 'take', 'top'],
    config: ['options', 'settings', 'params'],
  },
  FilterData: { conditions: ['filter', 'filters', 'where', 'condition'], field: ['key', 'property'], operator: ['op'] },
  Conditional: { condition: ['if', 'when', 'test'], ifTrue: ['then', 'true', 'yes'], ifFalse: ['else', 'false', 'no'] },
  Loop: { operations: ['do', 'body', 'steps', 'tasks'], itemPath: ['itemvariable', 'as', 'item', 'itemname'] },
  StoreData: { storage: ['store', 'location', 'type'], key: ['name', 'id'] },
  Wait: { duration: ['milliseconds', 'ms', 'time', 'delay', 'seconds', 'timeout'] },
  MergeData: { sources: ['inputs', 'inputpaths', 'paths'], strategy: ['mode', 'type', 'method'] },
  Calculate: { operand: ['value', 'by', 'right', 'operand2'], operation: ['function', 'op', 'type'] },
  FormatText: { template: ['text', 'pattern'], format: ['operation', 'type', 'case'] },
  ExtractText: { pattern: ['regex', 'regexp'], extractAll: ['all', 'global'] },
  ValidateData: { validationType: ['type', 'kind', 'format', 'validation'], pattern: ['regex', 'regexp'] },
  EncodeDecode: { operation: ['mode', 'action', 'type'], encoding: ['algorithm', 'codec', 'scheme'] },
  GetCurrentDateTime: { timezone: ['tz', 'zone'], formatString: ['pattern', 'template'] },
  ConvertTimezone: {
    toTimezone: ['to', 'target', 'timezone', 'tz', 'zone'],
    fromTimezone: ['from', 'source'],
    formatString: ['pattern', 'template'],
  },
  DateCalculation: {
    operation: ['op', 'type', 'method'],
    timezone: ['tz', 'zone'],
    formatString: ['pattern', 'template'],
  },
  LoadData: { key: ['name', 'id'] },
  CallTool: { tool: ['name', 'toolname', 'tool_name'], arguments: ['args', 'params', 'parameters', 'input', 'inputs'] },
  CallAgent: { agent: ['agentid', 'agent_id', 'name'], message: ['prompt', 'text', 'content', 'input', 'query'] },
  RunWorkflow: { name: ['workflow', 'workflowname', 'id'], inputs: ['args', 'arguments', 'params', 'input'] },
  AskApproval: {
    title: ['question', 'prompt', 'message'],
    description: ['details', 'text'],
    expires: ['timeout', 'ttl'],
  },
};

const SYNONYMS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  Object.entries(WORDS).map(([operation, members]) => [
    operation,
    new Map(Object.entries(members).flatMap(([member, words]) => words.map((word) => [word, member] as const))),
  ]),
);
