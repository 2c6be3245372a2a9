import { SCHEMA_BASE, type SchemaSet } from '@dragoman/protocols';
import { ConfigShape } from './config-schema.ts';

const schemas: SchemaSet = {
  dialect: 'config',
  schemas: { Config: { $id: `${SCHEMA_BASE}/config/dragoman.json`, title: 'dragoman.yaml', ...ConfigShape } },
};

export default schemas;
