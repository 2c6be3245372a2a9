import { SCHEMA_BASE, type SchemaSet } from '@dragoman/protocols';
import { CredentialBody } from './definition.ts';

const schemas: SchemaSet = {
  dialect: 'vault',
  schemas: {
    CredentialDefinition: {
      $id: `${SCHEMA_BASE}/vault/credential-definition.json`,
      title: 'A credential',
      ...CredentialBody,
    },
  },
};

export default schemas;
