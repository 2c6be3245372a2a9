import { SCHEMA_BASE, type SchemaSet } from '../schema.ts';
import { E2AEnvelopeShape } from './envelope.ts';
import { E2AResponseShape } from './response.ts';

const schemas: SchemaSet = {
  dialect: 'e2a',
  schemas: {
    Envelope: { $id: `${SCHEMA_BASE}/e2a/envelope.json`, title: 'E2A envelope', ...E2AEnvelopeShape },
    Response: { $id: `${SCHEMA_BASE}/e2a/response.json`, title: 'E2A response', ...E2AResponseShape },
  },
};

export default schemas;
