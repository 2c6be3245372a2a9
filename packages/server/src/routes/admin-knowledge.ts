import {
  decodeKnowledgeBase,
  type KnowledgeBase,
  KnowledgeBaseDefinition,
  type KnowledgeBases,
  unreadable,
} from '@dragoman/core';
import { type Failure, failure, type JsonObject } from '@dragoman/protocols';
import type { Answer, InboundRequest, Route } from '../http/route.ts';

/** Administration of knowledge bases. Every change is on disk before it is acknowledged. */
export function adminKnowledgeRoutes(bases: KnowledgeBases): Route[] {
  return [
    {
      method: 'GET',
      path: '/admin/v1/knowledge',
      access: 'admin',
      counts: false,
      summary: 'List all knowledge bases, without documents.',
      handle: () => ({ status: 200, json: { knowledge_bases: bases.list().map(summaryJson) } }),
    },
    {
      method: 'PUT',
      path: '/admin/v1/knowledge/:kb_id',
      access: 'admin',
      counts: false,
      summary: 'Create or replace a knowledge base with all its documents.',
      body: { contentTypes: ['application/json'], maxBytes: 1024 * 1024, schema: KnowledgeBaseDefinition },
      handle: (request) => putBase(request, bases),
    },
    {
      method: 'GET',
      path: '/admin/v1/knowledge/:kb_id',
      access: 'admin',
      counts: false,
      summary: 'Read a knowledge base with its documents.',
      handle: ({ params }) => {
        const base = bases.find(params['kb_id'] ?? '');
        return base === undefined ? noBase() : { status: 200, json: { ...base } as unknown as JsonObject };
      },
    },
    {
      method: 'DELETE',
      path: '/admin/v1/knowledge/:kb_id',
      access: 'admin',
      counts: false,
      summary: 'Remove a knowledge base with its documents.',
      handle: async ({ params }) => {
        const id = params['kb_id'] ?? '';
        return (await bases.remove(id)) ? { status: 200, json: { id, removed: true } } : noBase();
      },
    },
    {
      method: 'DELETE',
      path: '/admin/v1/knowledge/:kb_id/documents/:document_id',
      access: 'admin',
      counts: false,
      summary: 'Remove one document of a knowledge base.',
      handle: ({ params }) => removeDocument(params['kb_id'] ?? '', params['document_id'] ?? '', bases),
    },
  ];
}

async function putBase(request: InboundRequest, bases: KnowledgeBases): Promise<Answer | Failure> {
  const json = await request.readJson();
  if (!json.ok) return unreadable(json.issues);
  const decoded = decodeKnowledgeBase(request.params['kb_id'] ?? '', json.value);
  if (!decoded.ok) return failure('invalid_message', { issues: decoded.issues });
  const done = await bases.put(decoded.value);
  return { status: done === 'made' ? 201 : 200, json: summaryJson(decoded.value) };
}

async function removeDocument(id: string, documentId: string, bases: KnowledgeBases): Promise<Answer | Failure> {
  const base = bases.find(id);
  if (base === undefined) return noBase();
  const documents = base.documents.filter((document) => document.id !== documentId);
  if (documents.length === base.documents.length) return failure('not_found', {}, 'Document not found.');
  await bases.put({ ...base, documents });
  return { status: 200, json: { id: documentId, removed: true } };
}

function summaryJson({ id, description, agents, documents }: KnowledgeBase): JsonObject {
  return { id, description: description ?? null, agents: [...agents], documents: documents.length };
}

function noBase(): Failure {
  return failure('not_found', {}, 'Knowledge base not found.');
}
