import { SCHEMA_BASE, type SchemaSet } from '@dragoman/protocols';
import { AgentDefinition } from './definition.ts';

const schemas: SchemaSet = {
  dialect: 'registry',
  schemas: {
    AgentDefinition: { $id: `${SCHEMA_BASE}/registry/agent-definition.json`, title: 'An agent', ...AgentDefinition },
  },
};

export default schemas;
