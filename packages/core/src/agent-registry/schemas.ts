import { SCHEMA_BASE, type SchemaSet } from '@dragoman/protocols';
import { Registration } from './registration.ts';

const schemas: SchemaSet = {
  dialect: 'agent-registry',
  schemas: {
    Registration: { $id: `${SCHEMA_BASE}/agent-registry/registration.json`, title: 'A registration', ...Registration },
  },
};

export default schemas;
