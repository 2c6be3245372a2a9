import { SCHEMA_BASE, type SchemaSet } from '@dragoman/protocols';
import { AgentBody, NewKeyRequest } from './definition.ts';

const schemas: SchemaSet = {
  dialect: 'registry',
  schemas: {
    AgentDefinition: { $id: `${SCHEMA_BASE}/registry/agent-definition.json`, title: 'An agent', ...AgentBody },
    NewKeyRequest: { $id: `${SCHEMA_BASE}/registry/new-key-request.json`, title: 'A key to make', ...NewKeyRequest },
  },
};

export default schemas;
