import { SCHEMA_BASE, type SchemaSet } from '@dragoman/protocols';
import { CredentialDefinition } from './definition.ts';

const schemas: SchemaSet = {
  dialect: 'vault',
  schemas: {
    CredentialDefinition: {
      $id: `${SCHEMA_BASE}/vault/credential-definition.json`,
      title: 'A credential',
      ...CredentialDefinition,
    },
  },
};

export default schemas;
