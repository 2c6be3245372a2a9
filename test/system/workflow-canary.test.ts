import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { canaryScan, codingsOf } from './canary-scan.ts';
import { type Counted, CountingApi, send } from './counting-api.ts';
import { System } from './system.ts';
import { fresh, WorkflowCaller, workflowOf } from './workflow-caller.ts';

const SECRET = 'canary/7e2+"b&5\\d=8f~3a?Qz-9c';
const api = await CountingApi.start();
const system = await System.start({
  config: { apis: { shop: { base_url: api.url } }, gate: { allow: [api.host] } },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});
const admin = (path: string, json?: JsonObject) =>
  call(system.url, { path, key: system.adminKey, ...(json !== undefined && { method: 'PUT', json }) });
await admin('/admin/v1/credentials/key', {
  type: 'api-key',
  value: SECRET,
  hosts: [api.host],
  places: ['header', 'query', 'body'],
});
const everything = { permissions: { operations: ['*'], apis: ['*'], credentials: ['*'] } };
const ann = new WorkflowCaller(system, (await system.caller('ann-agent', everything)).api_key);
const answers: Record<string, string> = {};

/** Everything the API was sent, in every coding. */
const echo = ({ headers, path, body }: Counted) => ({ headers, path, body, codings: codingsOf(SECRET) });
for (const method of ['GET', 'POST']) {
  api.behaviours.set(`${method} /json`, (request, response) => send(response, 200, echo(request)));
  api.behaviours.set(`${method} /text`, (request, response) => {
    response.setHeader('content-type', 'text/plain').end(`echoed ${SECRET}: ${JSON.stringify(echo(request))}`);
  });
  api.behaviours.set(`${method} /failure`, (request, response) => send(response, 500, echo(request)));
  api.behaviours.set(`${method} /broken`, (_, response) => {
    response.setHeader('content-type', 'application/json').end(`{"echoed": ${SECRET}`);
  });
  api.behaviours.set(`${method} /type`, (_, response) => {
    response.setHeader('content-type', `image/${encodeURIComponent(SECRET)}`).end(SECRET);
  });
  api.behaviours.set(`${method} /redirect`, (_, response) => {
    response.writeHead(302, { location: `/?key=${encodeURIComponent(SECRET)}` }).end(SECRET);
  });
  for (const [coding, pack] of [['gzip', gzipSync] as const, ['br', brotliCompressSync] as const]) {
    api.behaviours.set(`${method} /${coding}`, (request, response) => {
      const headers = { 'content-type': 'application/json', 'content-encoding': coding };
      response.writeHead(200, headers).end(pack(JSON.stringify(echo(request))));
    });
  }
}

const key = { credentialRef: { id: 'key' } };
const PLACES = {
  header: { method: 'GET', headers: { 'X-Key': key } },
  query: { method: 'GET', query: { key } },
  body: { method: 'POST', body: { key } },
};

test.each(
  Object.keys(PLACES).flatMap((place) =>
    ['json', 'text', 'gzip', 'br', 'failure', 'broken', 'type', 'redirect'].map((way) => [place, way] as const),
  ),
)('a secret sent in the %s does not come back: %s', async (place, way) => {
  api.requests.length = 0;
  const id = fresh();
  const fetch = { ...PLACES[place as keyof typeof PLACES], url: `${api.url}/${way}`, outputPath: '/workflow/x' };
  const store = (storage: string) => ({
    StoreData: { inputPath: '/workflow/x', storage, key: `${place}-${way}-${storage}` },
  });
  const workflow = workflowOf({ fetch: { ApiCall: fetch }, keep: store('localStorage'), file: store('file') }, { id });
  const text = await (await ann.post('execute', { workflow })).text();
  expect(JSON.stringify(api.requests)).toContain(place === 'query' ? encodeURIComponent(SECRET) : 'canary/7e2+');
  if (way !== 'redirect' && way !== 'type') expect(text).toContain('[redacted]');
  answers[`${place} ${way}`] = text;
  for (const path of [`/api/v1/executions/${id}`, `/api/v1/executions/${id}/events`]) {
    answers[`${place} ${way} ${path}`] = await (await ann.call({ path })).text();
  }
  answers[`${place} ${way} explained`] = await (await admin(`/admin/v1/requests/${id}`)).text();
  expect(canaryScan({ secret: SECRET, seen: answers })).toEqual([]);
});

test('what is kept of an answer for the next call has no secret in it', async () => {
  const fetch = { ...PLACES.header, url: `${api.url}/json?kept`, outputPath: '/workflow/x' };
  const ask = async () => (await ann.post('execute', { workflow: workflowOf({ fetch: { ApiCall: fetch } }) })).text();
  api.requests.length = 0;
  for (const name of ['executed', 'kept']) answers[name] = await ask();
  expect(api.requests).toHaveLength(1);
  expect(answers['kept']).toContain('[redacted]');
  expect(canaryScan({ secret: SECRET, seen: answers })).toEqual([]);
});

test('no byte of database, file, log, metric or process holds it, also after a crash', async () => {
  for (const path of ['/admin/v1/credentials/key', '/metrics', '/openapi.json']) {
    answers[path] = await (await admin(path)).text();
  }
  for (const path of ['/api/v1/capabilities', '/api/v1/executions?limit=1000']) {
    answers[path] = await (await ann.call({ path })).text();
  }
  const seen = () => ({ ...answers, log: system.log });
  expect(canaryScan({ secret: SECRET, kept: await system.kept(), seen: seen(), pids: [system.pid] })).toEqual([]);
  await system.kill();
  expect(canaryScan({ secret: SECRET, kept: await system.kept(), seen: seen() })).toEqual([]);
  await system.start();
  expect(canaryScan({ secret: SECRET, kept: await system.kept(), seen: seen(), pids: [system.pid] })).toEqual([]);
});
