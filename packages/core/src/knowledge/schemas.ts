import { SCHEMA_BASE, type SchemaSet } from '@dragoman/protocols';
import { KnowledgeBaseDefinition, SearchRequest } from './definition.ts';

const schemas: SchemaSet = {
  dialect: 'knowledge',
  schemas: {
    KnowledgeBaseDefinition: {
      $id: `${SCHEMA_BASE}/knowledge/knowledge-base-definition.json`,
      title: 'A knowledge base',
      ...KnowledgeBaseDefinition,
    },
    SearchRequest: { $id: `${SCHEMA_BASE}/knowledge/search-request.json`, title: 'A search', ...SearchRequest },
  },
};

export default schemas;
