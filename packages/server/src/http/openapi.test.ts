import { describe, expect, test } from 'vitest';
import { route } from '../edges/harness.contract.ts';
import { AFTER } from '../routes/route-parameters.ts';
import { openApi } from './openapi.ts';

const envelope = { $id: 'https://dragoman.example/schemas/e2a/envelope.json', type: 'object' };
const routes = [
  route({ path: '/health', access: 'public', summary: 'Whether it lives.' }),
  route({ path: '/things/:id', access: 'agent' }),
  route({ method: 'DELETE', path: '/things/:id', access: 'admin' }),
  route({ path: '/files/*', access: 'open' }),
  route({
    method: 'POST',
    path: '/things/:id/parts/:part_id',
    access: 'agent',
    body: { contentTypes: ['application/json', 'application/x-ndjson'], maxBytes: 1024, schema: envelope },
  }),
  route({
    method: 'POST',
    path: '/plain',
    body: { contentTypes: ['application/json'], maxBytes: 10, schema: { type: 'string' } },
  }),
];
const INFO = { title: 'Dragoman', version: '1.2.3' };
const A_FRAME = { $ref: 'https://dragoman.example/schemas/e2a/response.json' };
const PLACED = { $ref: '#/components/schemas/e2a.response' };
const document = openApi(routes, INFO);

describe('the document', () => {
  test('has each route once, under its path and method', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Dragoman', version: '1.2.3' } });
    expect(document['paths']).toMatchObject({
      '/health': { get: { summary: 'Whether it lives.', security: [], operationId: 'get_health' } },
      '/things/{id}': {
        get: { security: [{ agentBearer: [] }, { agentKey: [] }] },
        delete: { security: [{ adminBearer: [] }, { adminKey: [] }] },
      },
      '/files/{path}': {
        get: {
          security: [{}, { agentBearer: [] }, { agentKey: [] }],
          parameters: [{ name: 'path', in: 'path', required: true }],
        },
      },
      '/things/{id}/parts/{part_id}': { post: { parameters: [{ name: 'id' }, { name: 'part_id' }] } },
    });
  });

  test('lists a named schema once and refers to it', () => {
    expect(document).toMatchObject({
      components: { schemas: { 'e2a.envelope': envelope } },
      paths: {
        '/things/{id}/parts/{part_id}': {
          post: {
            requestBody: {
              content: {
                'application/json': { schema: { $ref: '#/components/schemas/e2a.envelope' } },
                'application/x-ndjson': {},
              },
            },
          },
        },
        '/plain': { post: { requestBody: { content: { 'application/json': { schema: { type: 'string' } } } } } },
      },
    });
  });

  test('holds a published schema that is only referred to', () => {
    const generated = openApi([route({ path: '/reported', answers: { 'application/json': A_FRAME } })], INFO);
    expect(generated).toMatchObject({
      paths: {
        '/reported': { get: { responses: { '2XX': { content: { 'application/json': { schema: PLACED } } } } } },
      },
      components: { schemas: { 'e2a.response': { type: 'object', properties: { sequence: { type: 'integer' } } } } },
    });
  });

  test('describes the parameters beside the path, and the format of failures', () => {
    const wordFailure = () => ({ status: 400, json: {} });
    const generated = openApi([route({ path: '/reported/:id', parameters: AFTER, wordFailure })], INFO);
    expect(generated['paths']).toMatchObject({
      '/reported/{id}': {
        get: {
          parameters: [
            { name: 'id', in: 'path', required: true },
            { name: 'after', in: 'query', required: false, schema: { type: 'integer' } },
            { name: 'Last-Event-ID', in: 'header', required: false },
          ],
          responses: { default: { content: { 'application/json': {} } } },
        },
      },
    });
    expect(document['paths']).toMatchObject({
      '/health': { get: { responses: { default: { content: { 'application/problem+json': {} } } } } },
    });
  });

  test('refers only to what is in it', () => {
    const text = JSON.stringify(document);
    const components = document['components'] as Record<string, Record<string, unknown>>;
    for (const [, name] of text.matchAll(/#\/components\/schemas\/([\w.]+)/g)) {
      expect(components['schemas']).toHaveProperty([name ?? '']);
    }
    const schemes = Object.keys(components['securitySchemes'] ?? {});
    for (const [, name] of text.matchAll(/"(\w+)":\[\]/g)) {
      if (name !== 'security') expect(schemes).toContain(name);
    }
  });
});
