import type { JsonObject } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { apiFromOpenApi } from './openapi.ts';

const PETS: JsonObject = {
  openapi: '3.0.3',
  info: { title: 'Pets', description: 'Everything about\n  animals.', version: '1' },
  servers: [
    {
      url: 'https://{region}.pets.example/v{major}',
      variables: { region: { default: 'eu' }, major: { default: '2' } },
    },
  ],
  paths: {
    '/pets': {
      summary: 'not an operation',
      parameters: [],
      get: { summary: 'List pets', description: 'Lists every pet by name.' },
      post: { operationId: 'createPet' },
      options: { summary: 'What is possible' },
    },
    '/pets/{id}': { delete: { description: 'Removes a pet.' }, patch: {} },
    'no-slash': { get: {} },
  },
};

test('an OpenAPI 3 document gives the server, the words and what can be called', () => {
  expect(apiFromOpenApi(PETS)).toMatchObject({
    ok: true,
    value: {
      base_url: 'https://eu.pets.example/v2',
      description: 'Pets. Everything about animals.',
      endpoints: [
        { method: 'GET', path: '/pets', description: 'List pets. Lists every pet by name.' },
        { method: 'POST', path: '/pets', description: 'create Pet' },
        { method: 'DELETE', path: '/pets/{id}', description: 'Removes a pet.' },
        { method: 'PATCH', path: '/pets/{id}' },
      ],
    },
    warnings: [{ pointer: '/paths/~1pets/options' }, { pointer: '/paths/no-slash' }],
  });
});

test('a Swagger 2 document names its server in three parts', () => {
  const document = { swagger: '2.0', host: 'api.example.com', basePath: '/v1', schemes: ['http', 'https'], paths: {} };
  expect(apiFromOpenApi(document)).toMatchObject({ value: { base_url: 'https://api.example.com/v1', endpoints: [] } });
  expect(apiFromOpenApi({ ...document, schemes: ['http'] })).toMatchObject({
    value: { base_url: 'http://api.example.com/v1' },
  });
});

test('without a server the base URL is missing', () => {
  const { servers: _, ...document } = PETS;
  const outcome = apiFromOpenApi(document);
  expect(outcome.ok && Object.hasOwn(outcome.value, 'base_url')).toBe(false);
});

test.each([null, [], {}, { openapi: '4.0' }, { openapi: 3, paths: {} }, { swagger: '1.2', paths: {} }])(
  '%j is not a document',
  (json) => {
    expect(apiFromOpenApi(json)).toMatchObject({ ok: false, issues: [{ code: 'not_openapi' }] });
  },
);

test('names of a prototype are names like any other', () => {
  const paths = JSON.parse('{"/__proto__": {"get": {"summary": "odd"}, "__proto__": {}}}');
  expect(apiFromOpenApi({ openapi: '3.1.0', paths })).toMatchObject({
    value: { endpoints: [{ method: 'GET', path: '/__proto__', description: 'odd.' }] },
  });
});

test('a path item that stands elsewhere is read there; one that leads nowhere, or round in a circle, is named', () => {
  const document: JsonObject = {
    openapi: '3.1.0',
    info: { title: 'Pets', version: '1' },
    servers: [{ url: 'https://pets.example' }],
    paths: {
      '/pets': { $ref: '#/components/pathItems/Pets' },
      '/cats': { $ref: '#/paths/~1pets', delete: { summary: 'Removes all cats.' } },
      '/far': { $ref: 'other.yaml#/far', get: {} },
      '/round': { $ref: '#/paths/~1about' },
      '/about': { $ref: '#/paths/~1round' },
    },
    components: { pathItems: { Pets: { get: { summary: 'Lists pets.' } } } },
  };
  expect(apiFromOpenApi(document)).toMatchObject({
    ok: true,
    value: {
      endpoints: [
        { method: 'GET', path: '/pets', description: 'Lists pets.' },
        { method: 'GET', path: '/cats', description: 'Lists pets.' },
        { method: 'DELETE', path: '/cats', description: 'Removes all cats.' },
        { method: 'GET', path: '/far' },
      ],
    },
    warnings: [{ pointer: '/paths/~1far' }, { pointer: '/paths/~1round' }, { pointer: '/paths/~1about' }],
  });
});
