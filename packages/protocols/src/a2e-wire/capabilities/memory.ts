import type { JsonObject } from '../../json.ts';
import type { Issue } from '../../outcome.ts';
import { Opaque, OpaqueObject } from '../../schema.ts';
import {
  type Complete,
  choice,
  count,
  flag,
  list,
  number,
  object,
  record,
  records,
  req_id,
  requiredName,
  seconds,
  stringMap,
  strings,
  text,
  time,
} from '../fields.ts';
import { answer, type Namespace, request } from '../message-row.ts';

/** `working` lasts a session, `episodic` belongs to one agent, `semantic` to all. */
export const MEMORY_TIERS = ['working', 'episodic', 'semantic'] as const;

/** A memory entry. Its key is an object; keys with equal members are equal. */
export const MemoryEntry = object(
  {
    key: OpaqueObject,
    content: Opaque,
    tier: { enum: MEMORY_TIERS },
    tags: strings,
    source: text(''),
    score: number(1),
    // 0: no expiry.
    ttl: seconds(0),
    created_at: time,
    updated_at: time,
  },
  ['key', 'content', 'tier'],
);
export type MemoryEntry = Complete<typeof MemoryEntry>;

export const MemoryInitRequest = object({ namespace: text('default'), scope: stringMap, metadata: record });
export const MemoryInitResponse = object(
  { req_id, memory_id: requiredName, namespace: text('default'), success: flag(true) },
  ['memory_id'],
);
export const MemoryStoreRequest = object({ memory_id: requiredName, entries: list(MemoryEntry) }, ['memory_id']);
export const MemoryStoreResponse = object({ req_id, stored: records, errors: strings });
export const MemoryRetrieveRequest = object(
  {
    memory_id: requiredName,
    keys: records,
    query: text(''),
    tags: strings,
    // Empty: all tiers.
    tier: choice(['', ...MEMORY_TIERS], ''),
    limit: count(10),
    min_score: number(0),
  },
  ['memory_id'],
);
export const MemoryRetrieveResponse = object({ req_id, entries: list(MemoryEntry), total: count(0) });
export const MemoryForgetRequest = object(
  { memory_id: requiredName, keys: records, tags: strings, all: flag(false), tier: choice(MEMORY_TIERS, 'episodic') },
  ['memory_id'],
);
export const MemoryForgetResponse = object({ req_id, deleted: count(0) });

export const memory = {
  capability: 'memory',
  types: {
    'memory/init/req': request(MemoryInitRequest, 'memory/init/resp'),
    'memory/init/resp': answer(MemoryInitResponse),
    'memory/store/req': request(MemoryStoreRequest, 'memory/store/resp', { changes: true }),
    'memory/store/resp': answer(MemoryStoreResponse),
    'memory/retrieve/req': request(MemoryRetrieveRequest, 'memory/retrieve/resp'),
    'memory/retrieve/resp': answer(MemoryRetrieveResponse),
    'memory/forget/req': request(MemoryForgetRequest, 'memory/forget/resp', { changes: true, check: namesTarget }),
    'memory/forget/resp': answer(MemoryForgetResponse),
  },
} as const satisfies Namespace;

/** Forgetting everything must be explicit; missing keys and tags never mean everything. */
function namesTarget({ keys, tags, all }: JsonObject): readonly Issue[] {
  const isNamed = [keys, tags].some((list) => Array.isArray(list) && list.length > 0);
  if (isNamed === (all !== true)) return [];
  const message = isNamed
    ? 'all must not be true beside keys or tags'
    : 'memory/forget/req must name what to forget: keys, tags, or "all": true for everything of the tier; got none of them';
  const suggestion = isNamed ? 'remove all, or keys and tags' : 'add keys or tags, or "all": true';
  return [{ pointer: '/all', code: isNamed ? 'conflict' : 'required', message, suggestion }];
}
