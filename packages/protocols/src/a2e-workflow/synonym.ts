import { isObject, type Json } from '../json.ts';
import type { Issue } from '../outcome.ts';
import { segmentsOf } from '../pointer.ts';
import type { JsonSchema } from '../schema.ts';

/** Suggests the schema's own field for an unknown one whose name agents often use for it. */
export function withSynonym(operation: string, { properties }: JsonSchema, issue: Issue): Issue {
  if (issue.code !== 'unknown_field') return issue;
  const segments = segmentsOf(issue.pointer);
  const word = segments.at(-1)?.toLowerCase() ?? '';
  const place = [operation, ...segments.slice(0, -1).filter((segment) => !/^\d+$/.test(segment))].join('/');
  const hint = HINTS.get(place)?.get(word);
  if (hint !== undefined) return { ...issue, suggestion: hint };
  const everywhere = place === operation ? EVERYWHERE.get(word) : undefined;
  const isThere =
    everywhere !== undefined && isObject(properties as Json) && Object.hasOwn(properties as object, everywhere);
  const known = SYNONYMS.get(place)?.get(word) ?? (isThere ? everywhere : undefined);
  return known === undefined ? issue : { ...issue, suggestion: `did you mean ${known}?` };
}

/** The operation that agents mean by another name; `undefined` where none is known. */
export function operationMeantBy(name: string): string | undefined {
  return OPERATION_NAMES.get(name.toLowerCase().replaceAll(/[^a-z]/g, ''));
}

/** The fix for an operation whose name is a value instead of the key, such as `{"type": "Wait", "duration": 5}`. */
export function nestingFix(operation: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  const { type, name, operation: inner } = operation;
  const written = [type, name, inner].find((word) => names.some((known) => known === word));
  return typeof written === 'string'
    ? `write {${JSON.stringify(written)}: {…}} with the other members inside`
    : undefined;
}

/** Each known word, with what agents write for it in lower case. */
type Words = Readonly<Record<string, readonly string[]>>;

const ANYWHERE: Words = {
  inputPath: ['input', 'source', 'sourcepath', 'from', 'datapath', 'data', 'path', 'in', 'value'],
  outputPath: [
    ...['output', 'target', 'to', 'resultpath', 'responsepath', 'result', 'saveas', 'saveto', 'storeas', 'as', 'out'],
    ...['destination', 'assignto'],
  ],
};

const PATTERN = ['regex', 'regexp', 'expression'];
const TEXT_OF_A_DATE = {
  format: ['outputformat'],
  formatString: ['pattern', 'template'],
  timezone: ['tz', 'zone'],
};
const OPERATOR = ['op', 'operation', 'comparison', 'comparator', 'type'];
const COMPARED = ['val', 'right', 'rhs', 'to', 'compareto', 'equals', 'expected', 'threshold'];

/** By place: the operation's name, then the members that lead to the field. */
const WORDS: Readonly<Record<string, Words>> = {
  ApiCall: {
    url: ['endpoint', 'uri', 'href', 'address', 'path'],
    method: ['verb', 'httpmethod', 'type'],
    body: ['data', 'payload', 'json', 'content'],
    query: ['params', 'queryparams', 'parameters', 'qs', 'search'],
    timeout: ['timeoutms', 'timeout_ms', 'deadline'],
  },
  TransformData: {
    transform: ['transformation', 'type', 'kind', 'operation'],
    config: ['options', 'settings', 'params'],
  },
  'TransformData/config': {
    order: ['direction', 'sortorder', 'sort', 'dir'],
    operation: ['function', 'func', 'aggregation', 'aggregate', 'op', 'method'],
    operations: ['aggregations', 'functions'],
    field: ['by', 'key', 'sortby', 'groupby', 'column', 'property'],
    fields: ['mapping', 'mappings', 'map', 'columns', 'keys', 'properties'],
    count: ['limit', 'size', 'n', 'take', 'top'],
    offset: ['skip', 'start', 'from'],
  },
  'TransformData/config/operations': {
    operation: ['function', 'func', 'aggregation', 'aggregate', 'op', 'method', 'type'],
    field: ['by', 'key', 'column', 'property', 'path'],
    as: ['name', 'alias', 'output', 'outputfield'],
  },
  FilterData: { conditions: ['filter', 'filters', 'where', 'condition', 'rules', 'criteria'] },
  'FilterData/conditions': {
    field: ['key', 'property', 'path', 'left', 'column', 'name'],
    operator: OPERATOR,
    value: COMPARED,
  },
  Conditional: {
    condition: ['if', 'when', 'test'],
    ifTrue: ['then', 'true', 'yes', 'ontrue', 'thenoperations'],
    ifFalse: ['else', 'false', 'no', 'otherwise', 'onfalse', 'elseoperations'],
  },
  'Conditional/condition': {
    path: ['field', 'left', 'lhs', 'key', 'inputpath', 'variable'],
    operator: OPERATOR,
    value: COMPARED,
  },
  Loop: {
    inputPath: ['items', 'itemspath', 'list', 'array', 'collection', 'over', 'foreach', 'each', 'iterable'],
    operations: ['do', 'body', 'steps', 'tasks', 'operation'],
    itemPath: ['itemvariable', 'itemvar', 'as', 'item', 'itemname', 'variable'],
    parallel: ['concurrency', 'maxconcurrency', 'parallelism', 'maxparallel', 'batchsize'],
  },
  StoreData: { storage: ['store', 'location', 'type'], key: ['name', 'id'] },
  MergeData: { sources: ['inputs', 'inputpaths', 'paths', 'inputpath'], strategy: ['mode', 'type', 'method'] },
  Calculate: {
    operand: ['value', 'by', 'right', 'operand2', 'operands'],
    operation: ['function', 'op', 'type', 'operator'],
    precision: ['decimals', 'digits'],
  },
  FormatText: {
    template: ['text', 'pattern'],
    format: ['operation', 'type', 'case'],
    replacements: ['replace', 'variables'],
  },
  ExtractText: { pattern: PATTERN, extractAll: ['all', 'global', 'multiple'] },
  ValidateData: { validationType: ['type', 'kind', 'format', 'validation'], pattern: PATTERN },
  EncodeDecode: {
    operation: ['mode', 'action', 'direction'],
    encoding: ['type', 'algorithm', 'codec', 'scheme', 'format'],
  },
  GetCurrentDateTime: TEXT_OF_A_DATE,
  ConvertTimezone: {
    ...TEXT_OF_A_DATE,
    toTimezone: ['to', 'target', 'timezone', 'tz', 'zone', 'targettimezone'],
    fromTimezone: ['from', 'source', 'sourcetimezone'],
  },
  DateCalculation: { ...TEXT_OF_A_DATE, operation: ['op', 'type', 'method'] },
  LoadData: { key: ['name', 'id'] },
  CallTool: { tool: ['name', 'toolname', 'tool_name'], arguments: ['args', 'params', 'parameters', 'input', 'inputs'] },
  CallAgent: { agent: ['agentid', 'agent_id', 'name'], message: ['prompt', 'text', 'content', 'input', 'query'] },
  RunWorkflow: { name: ['workflow', 'workflowname', 'id'], inputs: ['args', 'arguments', 'params', 'input'] },
  AskApproval: {
    title: ['question', 'prompt', 'message'],
    description: ['details', 'text'],
    options: ['choices', 'answers'],
    expires: ['timeout', 'ttl'],
  },
};

const CREDENTIAL = 'put {"credentialRef": {"id": "…"}} in a header, a query value or a member of the body';
const RETRIES = 'remove it: temporary failures are retried automatically';
const AMOUNT = 'write the unit as a field, such as "days": 3';
const INTO_CONFIG = 'move it into config';
const MILLISECONDS = 'did you mean duration, in milliseconds?';
const ONE_OPERATION = 'use operation and operand; TransformData map computes expressions for each item';

/** By suggestion: fields for which another name alone would not help. */
const HINT_WORDS: Readonly<Record<string, Words>> = {
  ApiCall: {
    [CREDENTIAL]: ['credentialref', 'credential', 'credentials', 'auth', 'authorization', 'apikey', 'token'],
    [RETRIES]: ['retry', 'retries', 'maxretries', 'retrypolicy'],
  },
  TransformData: { [INTO_CONFIG]: ['field', 'fields', 'order', 'count', 'offset', 'operations'] },
  StoreData: { 'remove it: stored data is read at /store/<key>': ['outputpath', 'output'] },
  Wait: { [MILLISECONDS]: ['milliseconds', 'ms', 'time', 'delay', 'seconds', 'timeout', 'durationms', 'duration_ms'] },
  DateCalculation: { [AMOUNT]: ['amount', 'unit', 'value', 'interval', 'duration'] },
  Calculate: { [ONE_OPERATION]: ['expression', 'formula'] },
  ExtractText: { 'write them into the pattern, such as (?i)': ['flags', 'options'] },
};

/** Other names that agents use for an operation, in lower-case letters. */
const NAMES: Words = {
  ApiCall: [
    'http',
    'httprequest',
    'httpcall',
    'request',
    'fetch',
    'api',
    'apirequest',
    'callapi',
    'get',
    'post',
    'webhook',
  ],
  CallTool: ['tool', 'toolcall', 'invoketool', 'usetool'],
  CallAgent: ['agent', 'agentcall', 'invokeagent', 'askagent', 'delegate'],
  RunWorkflow: ['workflow', 'subworkflow', 'callworkflow', 'executeworkflow'],
  AskApproval: ['approval', 'approve', 'confirm', 'humanapproval', 'askhuman', 'requestapproval'],
  FilterData: ['filter', 'where'],
  TransformData: [
    'transform',
    'map',
    'sort',
    'sortdata',
    'group',
    'groupby',
    'aggregate',
    'aggregatedata',
    'select',
    'limit',
    'reduce',
  ],
  Conditional: ['if', 'ifelse', 'condition', 'branch', 'switch'],
  Loop: ['for', 'foreach', 'each', 'iterate', 'repeat', 'mapeach'],
  StoreData: ['store', 'save', 'savedata', 'persist'],
  LoadData: ['load', 'retrieve', 'retrievedata', 'readdata', 'getdata'],
  Wait: ['sleep', 'delay', 'pause'],
  MergeData: ['merge', 'combine', 'concat', 'join'],
  GetCurrentDateTime: ['now', 'today', 'currenttime', 'getdate', 'gettime', 'datetime'],
  ConvertTimezone: ['timezone', 'converttime'],
  DateCalculation: ['dateadd', 'datemath', 'adddays', 'calculatedate'],
  FormatText: ['format', 'template', 'text', 'formatstring', 'stringformat'],
  ExtractText: ['extract', 'regex', 'match'],
  ValidateData: ['validate'],
  Calculate: ['math', 'compute', 'calc', 'arithmetic'],
  EncodeDecode: ['encode', 'decode', 'base'],
};

function byWord(words: Words): ReadonlyMap<string, string> {
  return new Map(Object.entries(words).flatMap(([known, written]) => written.map((word) => [word, known] as const)));
}

function byPlace(places: Readonly<Record<string, Words>>): ReadonlyMap<string, ReadonlyMap<string, string>> {
  return new Map(Object.entries(places).map(([place, words]) => [place, byWord(words)]));
}

const EVERYWHERE = byWord(ANYWHERE);
const SYNONYMS = byPlace(WORDS);
const HINTS = byPlace(HINT_WORDS);
const OPERATION_NAMES = byWord(NAMES);
