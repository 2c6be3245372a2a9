import {
  decodeSearchRequest,
  type KnowledgeBases,
  type KnowledgeSearch,
  SearchRequest,
  unreadable,
} from '@dragoman/core';
import { type Failure, failure, type JsonObject } from '@dragoman/protocols';
import type { Answer, InboundRequest, Route } from '../http/route.ts';
import { callerOf } from './inbound-fields.ts';
import { workflowFailure } from './workflow-failure.ts';

export interface KnowledgeContext {
  readonly knowledge: KnowledgeSearch;
  readonly bases: KnowledgeBases;
}

/** Search by meaning over what the caller may use. */
export function knowledgeRoutes({ knowledge, bases }: KnowledgeContext): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/v1/knowledge/search',
      access: 'agent',
      counts: true,
      summary: 'Search operations, APIs, endpoints, tools, workflows and documents.',
      body: { contentTypes: ['application/json'], maxBytes: 16 * 1024, schema: SearchRequest },
      wordFailure: workflowFailure,
      handle: (request) => search(request, knowledge),
    },
    {
      method: 'GET',
      path: '/api/v1/knowledge/bases',
      access: 'agent',
      counts: true,
      summary: 'List the knowledge bases that the caller may search.',
      wordFailure: workflowFailure,
      handle: (request) => {
        const listed = bases.listFor(callerOf(request)).map(({ id, description = null, documents }) => {
          return { id, description, documents: documents.length };
        });
        return { status: 200, json: { knowledge_bases: listed, count: listed.length } };
      },
    },
  ];
}

async function search(request: InboundRequest, knowledge: KnowledgeSearch): Promise<Answer | Failure> {
  const json = await request.readJson();
  if (!json.ok) return unreadable(json.issues);
  const search = decodeSearchRequest(json.value);
  if (!search.ok) return failure('invalid_message', { issues: search.issues });
  return { status: 200, json: { ...(await knowledge.search(callerOf(request), search.value)) } as JsonObject };
}
