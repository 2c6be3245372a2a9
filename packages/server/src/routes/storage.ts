import type { WorkflowService } from '@dragoman/core';
import { failure } from '@dragoman/protocols';
import type { Route } from '../http/route.ts';
import { callerOf } from './inbound-fields.ts';
import { workflowFailure } from './workflow-failure.ts';

/** The data that the calling agent has stored with StoreData: list, read and delete it. */
export function storageRoutes(stored: WorkflowService['storedData']): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/v1/storage',
      access: 'agent',
      counts: true,
      summary: 'List the keys that your workflows have stored, with their sizes.',
      wordFailure: workflowFailure,
      handle: async (request) => {
        const rows = await stored.list(callerOf(request).id);
        const keys = rows.map(({ name, bytes, updatedAt }) => {
          return { key: name, bytes, updated_at: new Date(updatedAt).toISOString() };
        });
        return { status: 200, json: { keys } };
      },
    },
    {
      method: 'GET',
      path: '/api/v1/storage/:key',
      access: 'agent',
      owned: true,
      counts: true,
      summary: 'Read a stored value.',
      wordFailure: workflowFailure,
      handle: async (request) => {
        const { key = '' } = request.params;
        const value = await stored.read(callerOf(request).id, key);
        if (value === undefined) return NO_KEY;
        const text = `{"key":${JSON.stringify(key)},"value":${new TextDecoder().decode(value.bytes)}}`;
        return { status: 200, headers: { 'Content-Type': 'application/json' }, text };
      },
    },
    {
      method: 'DELETE',
      path: '/api/v1/storage/:key',
      access: 'agent',
      owned: true,
      counts: true,
      summary: 'Delete a key and its value.',
      wordFailure: workflowFailure,
      handle: async (request) => {
        const { key = '' } = request.params;
        const removed = await stored.remove(callerOf(request).id, key);
        return removed ? { status: 200, json: { key, deleted: true } } : NO_KEY;
      },
    },
  ];
}

const NO_KEY = failure(
  'not_found',
  { suggestions: ['GET /api/v1/storage lists your keys'] },
  'Nothing is stored under this key.',
);
