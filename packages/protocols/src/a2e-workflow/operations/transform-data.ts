import { isObject, type Json, type JsonObject } from '../../json.ts';
import type { Issue } from '../../outcome.ts';
import { pointerTo } from '../../pointer.ts';
import type { Static } from '../../static.ts';
import { clip, show } from '../../validation.ts';
import { isExpression, parseExpression } from '../expression.ts';
import { fieldFault } from '../path.ts';
import { FieldText, OutputPathText, PathText } from '../value.ts';
import { type OperationDescription, renamed, type Shape } from './description.ts';

export const TRANSFORMS = ['map', 'sort', 'group', 'aggregate', 'select', 'limit', 'offset'] as const;
export const AGGREGATIONS = ['count', 'sum', 'avg', 'min', 'max'] as const;

export const TransformDataConfig = {
  type: 'object',
  required: ['inputPath', 'transform', 'outputPath'],
  properties: {
    inputPath: PathText,
    transform: { enum: TRANSFORMS },
    config: {
      type: 'object',
      properties: {
        field: FieldText,
        order: { enum: ['asc', 'desc'] },
        // `select` lists fields. `map` renames fields, { "full_name": "name" }, or computes them, { "total": "{price} *
        // {quantity}" }. `sort` orders by several fields, listed or as { "points": "desc", "name": "asc" }.
        fields: { type: ['array', 'object'], items: FieldText, additionalProperties: FieldText },
        // `limit` takes this many items, after skipping `offset` items.
        count: { type: 'integer', minimum: 0 },
        offset: { type: 'integer', minimum: 0 },
        operation: { enum: AGGREGATIONS },
        operations: {
          type: 'array',
          minItems: 1,
          maxItems: 100,
          items: {
            type: 'object',
            required: ['operation'],
            properties: { field: FieldText, operation: { enum: AGGREGATIONS }, as: FieldText },
            additionalProperties: false,
          },
        },
      },
      additionalProperties: false,
    },
    outputPath: OutputPathText,
  },
  additionalProperties: false,
} as const;
export type TransformDataConfig = Static<typeof TransformDataConfig>;

export const TransformData: OperationDescription = {
  summary: 'Maps, sorts, groups, aggregates, selects from or cuts data.',
  category: 'data',
  schema: TransformDataConfig,
  members: [
    { at: '/inputPath', is: 'input', needs: (config) => (picksOne(config) ? undefined : ['array']) },
    { at: '/config/field', is: 'field' },
    { at: '/config/fields/*', is: 'field' },
    { at: '/config/operations/*/field', is: 'field' },
    { at: '/config/operations/*/as', is: 'field' },
    {
      at: '/outputPath',
      is: 'output',
      gives: givenBy,
      alsoAt: (config) => (aggregation(config) === undefined ? undefined : 'result'),
    },
  ],
  aliases: [
    renamed('/transform', { groupBy: 'group', reduce: 'aggregate' }),
    renamed('/config/order', { ascending: 'asc', descending: 'desc', ASC: 'asc', DESC: 'desc' }),
    renamed('/config/operation', { average: 'avg' }),
    renamed('/config/operations/*/operation', { average: 'avg' }),
  ],
  inspect: (config) => {
    const needs = NEEDS.get(config['transform']);
    const settings = config['config'] ?? {};
    return needs === undefined || !isObject(settings) ? [] : needs(settings);
  },
};

/** `select` with `field` takes one value out of an object: {"field": "data.users"}. */
function picksOne(config: JsonObject): boolean {
  const settings = config['config'];
  return config['transform'] === 'select' && isObject(settings) && !Object.hasOwn(settings, 'fields');
}

function givenBy(config: JsonObject): readonly Shape[] | undefined {
  if (picksOne(config)) return undefined;
  const one = aggregation(config);
  if (one === undefined) return GIVES.get(config['transform']);
  return one === 'min' || one === 'max' ? ['number', 'string', 'null'] : ['number'];
}

/** The single aggregation whose value is the result; `undefined` if there are several, or for another transform. */
export function aggregation(config: JsonObject): string | undefined {
  if (config['transform'] !== 'aggregate') return undefined;
  const settings = config['config'] ?? {};
  if (!isObject(settings) || Object.hasOwn(settings, 'operations')) return undefined;
  const { operation = 'count' } = settings;
  return typeof operation === 'string' ? operation : undefined;
}

/** The shapes that each transform gives. This and NEEDS are Maps, because the caller chooses the key. */
const GIVES: ReadonlyMap<unknown, readonly Shape[]> = new Map<unknown, readonly Shape[]>([
  ['map', ['array']],
  ['sort', ['array']],
  ['group', ['object']],
  ['aggregate', ['object']],
  ['select', ['array']],
  ['limit', ['array']],
  ['offset', ['array']],
]);

/** The required `config` of each transform: without it the input would be returned as the result. */
const NEEDS_BY_NAME: Readonly<Record<string, (settings: JsonObject) => readonly Issue[]>> = {
  map: ({ fields }) => {
    if (isObject(fields))
      return [
        ...noFields(fields, 'map'),
        ...forbiddenNames(Object.keys(fields)),
        ...sameTargets(fields),
        ...wrongExpressions(fields),
      ];
    const suggestion = 'write {"source": "target"} or {"target": "{price} * {quantity}"}';
    if (fields === undefined) return [missing('fields', 'map', suggestion)];
    return [{ ...shape('an object of source and target names for map', fields), suggestion }];
  },
  sort: ({ field, fields }) => {
    if (fields === undefined) return field === undefined ? [missing('field', 'sort')] : [];
    const none = noFields(fields, 'sort');
    return isObject(fields) ? [...none, ...forbiddenNames(Object.keys(fields)), ...unknownOrders(fields)] : none;
  },
  limit: ({ count }) => (count === undefined ? [missing('count', 'limit')] : []),
  offset: ({ count }) => (count === undefined ? [missing('count', 'offset')] : []),
  group: ({ field }) => (field === undefined ? [missing('field', 'group')] : []),
  select: ({ field, fields }) => {
    if (fields === undefined) return field === undefined ? [missing('fields', 'select')] : [];
    return Array.isArray(fields) ? noFields(fields, 'select') : [shape('an array of field names for select', fields)];
  },
  aggregate: ({ field, operation, operations }) => {
    if (Array.isArray(operations)) {
      const without = operations.flatMap((item, index) =>
        isObject(item) && item['field'] === undefined && needsField(item['operation'])
          ? [missing(`operations/${index}/field`, item['operation'])]
          : [],
      );
      return [...without, ...sameResults(operations)];
    }
    return field === undefined && needsField(operation) ? [missing('field', operation)] : [];
  },
};

const NEEDS: ReadonlyMap<unknown, (settings: JsonObject) => readonly Issue[]> = new Map(Object.entries(NEEDS_BY_NAME));

function noFields(fields: Json, transform: string): readonly Issue[] {
  if (typeof fields !== 'object' || fields === null || Object.keys(fields).length > 0) return [];
  const message = `fields must name at least 1 field for ${transform}; got ${show(fields)}`;
  return [{ pointer: '/config/fields', code: 'too_few', message }];
}

/** Two sources with one name: only the later would be left. */
function sameTargets(fields: JsonObject): readonly Issue[] {
  const targets = Object.entries(fields).map(([source, target]) => ({
    name: typeof target === 'string' && isExpression(target) ? source : target,
    at: pointerTo('/config/fields', source),
  }));
  return repeated(targets, 'give one of them another name');
}

function wrongExpressions(fields: JsonObject): readonly Issue[] {
  return Object.entries(fields).flatMap(([name, text]) => {
    const parsed = typeof text === 'string' && isExpression(text) ? parseExpression(text) : undefined;
    if (typeof parsed !== 'string') return [];
    return [{ pointer: pointerTo('/config/fields', name), code: 'expression', message: `${name} ${parsed}` }];
  });
}

/** Two aggregations with one name: only the later would be left. */
function sameResults(operations: readonly Json[]): readonly Issue[] {
  const named = operations.map((item, index) => ({
    name: isAggregation(item) ? aggregateName(item) : undefined,
    at: pointerTo('/config/operations', index),
  }));
  return repeated(named, 'rename one of them with as');
}

interface Aggregation {
  readonly as?: string | undefined;
  readonly field?: string | undefined;
  readonly operation: string;
}

/** The name of an aggregation's value when there are several. */
export function aggregateName({ as, field, operation }: Aggregation): string {
  return as ?? (field === undefined ? operation : `${operation}_${field}`);
}

/** The schema refuses other values. */
function isAggregation(item: Json): item is JsonObject & Aggregation {
  const isText = (name: string) => isObject(item) && typeof item[name] === 'string';
  const isAbsent = (name: string) => isObject(item) && item[name] === undefined;
  return isText('operation') && ['as', 'field'].every((name) => isText(name) || isAbsent(name));
}

function repeated(named: readonly { name: Json | undefined; at: string }[], suggestion: string): readonly Issue[] {
  const known = new Set<Json | undefined>();
  return named.flatMap(({ name, at }) => {
    const message = `${show(name)} is the name of two results; the later would replace the earlier`;
    const issue = { pointer: at, code: 'repeated_name', message, suggestion };
    const isRepeated = typeof name === 'string' && known.has(name);
    known.add(name);
    return isRepeated ? [issue] : [];
  });
}

/** The keys of `fields` name fields too, so they have the same rules. */
function forbiddenNames(names: readonly string[]): readonly Issue[] {
  return names.flatMap((name) => {
    const fault = fieldFault(name);
    if (fault === undefined) return [];
    const message = `fields ${fault.expected}; got ${show(name)}`;
    return [{ pointer: pointerTo('/config/fields', name), code: fault.code, message }];
  });
}

/** For `sort` the values are orders, not fields. */
function unknownOrders(fields: JsonObject): readonly Issue[] {
  return Object.entries(fields)
    .filter(([, order]) => order !== 'asc' && order !== 'desc')
    .map(([name, order]) => ({
      pointer: pointerTo('/config/fields', name),
      code: 'enum',
      message: `${name} must be asc or desc for sort; got ${show(order)}`,
    }));
}

/** The schema refuses values that are not names. */
function needsField(operation: unknown): operation is string {
  return typeof operation === 'string' && operation !== 'count';
}

function missing(name: string, what: string, suggestion?: string): Issue {
  const field = name.split('/').at(-1);
  const message = `${field} is required in config for ${clip(what)} but missing`;
  return { pointer: `/config/${name}`, code: 'required', message, ...(suggestion !== undefined && { suggestion }) };
}

function shape(expected: string, value: unknown): Issue {
  return { pointer: '/config/fields', code: 'type', message: `fields must be ${expected}; got ${show(value)}` };
}
