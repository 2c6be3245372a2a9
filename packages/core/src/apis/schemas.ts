import { SCHEMA_BASE, type SchemaSet } from '@dragoman/protocols';
import { ApiDefinition } from './definition.ts';

const schemas: SchemaSet = {
  dialect: 'apis',
  schemas: {
    ApiDefinition: { $id: `${SCHEMA_BASE}/apis/api-definition.json`, title: 'An API', ...ApiDefinition },
  },
};

export default schemas;
