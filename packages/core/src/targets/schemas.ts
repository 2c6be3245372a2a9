import { SCHEMA_BASE, type SchemaSet } from '@dragoman/protocols';
import { StoredWorkflowDefinition } from './stored-workflow-definition.ts';

const schemas: SchemaSet = {
  dialect: 'targets',
  schemas: {
    StoredWorkflowDefinition: {
      $id: `${SCHEMA_BASE}/targets/stored-workflow-definition.json`,
      title: 'A stored workflow',
      ...StoredWorkflowDefinition,
    },
  },
};

export default schemas;
