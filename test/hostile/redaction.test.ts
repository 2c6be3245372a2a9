import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { allFrames, call } from '../system/call.ts';
import { Caller, fresh } from '../system/caller.ts';
import { canaryScan } from '../system/canary-scan.ts';
import { CountingApi } from '../system/counting-api.ts';
import { System } from '../system/system.ts';
import { WorkflowCaller, workflowOf } from '../system/workflow-caller.ts';

const SECRET = 'canary/7e2+"b&5\\d=8f~3a?Qz-9c';
const TOKEN = 'tok-9f8e7d6c5b4a+39/28"17';
const api = await CountingApi.start();
const system = await System.start({
  config: {
    default_agent: 'repeat',
    agents: { repeat: { driver: 'module', module: new URL('./repeating-agent.mjs', import.meta.url).pathname } },
    apis: { shop: { base_url: api.url } },
    gate: { allow: [api.host] },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});
await call(system.url, {
  method: 'PUT',
  path: '/admin/v1/credentials/key',
  key: system.adminKey,
  json: { type: 'api-key', value: SECRET, hosts: [api.host] },
});
const permissions = { agents: ['*'], operations: ['*'], apis: ['*'], credentials: ['*'] };
const { api_key } = await system.caller('ann-agent', { permissions });
const workflows = new WorkflowCaller(system, api_key);
const caller = new Caller(system, api_key);

describe('a secret that an API gives back', () => {
  test.each<[string, (secret: string) => string]>([
    ['in base64, in lines', (secret) => lines(base64(secret), '\n')],
    ['in base64, in lines of mail', (secret) => lines(base64(`user:${secret}`), '\r\n')],
    ['in base64, with escaped line breaks', (secret) => lines(base64(secret), '\\n')],
    ['in hex, byte by byte', (secret) => Buffer.from(secret).toString('hex').replace(/../g, '$& ')],
    ['in hex, in lines', (secret) => lines(Buffer.from(secret).toString('hex'), '\\r\\n')],
    ['as HTML by number', (secret) => entities(secret, (code) => `&#${code};`)],
    ['as HTML by hex number with zeros', (secret) => entities(secret, (code) => `&#x000${code.toString(16)};`)],
    ['as HTML by number without semicolons', (secret) => entities(secret, (code) => `&#0${code}`)],
  ])('%s is replaced, in JSON and in text', async (_, form) => {
    const given = form(SECRET);
    api.answers('GET /echo', { given });
    api.behaviours.set('GET /text', (_request, response) => {
      response.setHeader('content-type', 'text/plain').end(`<p>${given}</p>`);
    });
    const result = JSON.stringify(await workflows.execute(workflowOf({ echo: get('/echo'), text: get('/text') })));
    expect(result.match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(2);
    expect(result).not.toContain(JSON.stringify(given.slice(4, 24)).slice(1, -1));
  });
});

describe('a secret that a workflow makes from what an API gave back', () => {
  const decode = (from: string, to: string): JsonObject => ({
    EncodeDecode: {
      inputPath: `/workflow/${from}`,
      operation: 'decode',
      encoding: 'base64',
      outputPath: `/workflow/${to}`,
    },
  });
  const keep = (storage: string, key: string): JsonObject => ({
    StoreData: { inputPath: '/workflow/plain', storage, key },
  });

  test.each([
    ['a short result', ''],
    ['a result of several hundred kilobytes', 'lorem ipsum '.repeat(30_000)],
  ])('is in none of %s, its events, and the data that is kept', async (_, around) => {
    // Only decoding shows that this is a secret.
    api.answers(`GET /twice${around.length}`, base64(base64(`${around}${SECRET}${around}`)));
    const id = `exec-${around.length}`;
    const steps = {
      twice: get(`/twice${around.length}`),
      once: decode(`twice${around.length}`, 'once'),
      plain: decode('once', 'plain'),
      local: keep('localStorage', 'made'),
      file: keep('file', 'made-file'),
    };
    const result = await workflows.execute(workflowOf(steps, { id }));
    expect(result.status).toBe('success');
    expect(result.results['plain'] === `${around}[redacted]${around}`).toBe(true);
    const events = await workflows.call({ path: `/api/v1/executions/${id}/events`, accept: 'text/event-stream' });
    const seen = {
      result: JSON.stringify(result),
      events: await events.text(),
      again: JSON.stringify((await workflows.get(`executions/${id}`)).json),
      log: system.log,
    };
    expect(canaryScan({ secret: SECRET, kept: await system.kept(), seen })).toEqual([]);
  });

  test('is not in the error of an operation that cannot use it', async () => {
    api.answers('GET /wrong', base64(base64(SECRET)));
    const steps = { twice: get('/wrong'), once: decode('wrong', 'once'), more: decode('once', 'plain') };
    const wrong = { ...steps, nothing: decode('plain', 'nothing') };
    const result = JSON.stringify(await workflows.execute(workflowOf(wrong)));
    expect(result).toContain('DataError');
    expect(canaryScan({ secret: SECRET, kept: await system.kept(), seen: { result, log: system.log } })).toEqual([]);
  });
});

describe('credentials that a caller sends to an agent', () => {
  const auth = {
    method_id: 'bearer',
    bearer_token: TOKEN,
    extra_headers: { authorization: `Bearer ${TOKEN}-header`, 'x-short': 'short' },
  };
  const ask = async (params: JsonObject) => {
    const json = { request_id: fresh(), method: 'chat.send', is_stream: true, params, auth };
    return {
      id: json.request_id,
      frames: await allFrames(await caller.post(json, { accept: 'application/x-ndjson' })),
    };
  };

  test('is neither in its frames nor in the store when the agent repeats it', async () => {
    const { id, frames } = await ask({});
    const text = frames.join('\n');
    expect(frames.length).toBeGreaterThan(3);
    expect(text.match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(6);
    // What is short would be found everywhere by chance.
    expect(text).toContain('"short":"short"');
    const resumed = (await caller.resume(id)).join('\n');
    expect(resumed).toBe(text);
    expect(canaryScan({ secret: TOKEN, kept: await system.kept(), seen: { text, resumed } })).toEqual([]);
    expect(canaryScan({ secret: `${TOKEN}-header`, kept: await system.kept(), seen: { text } })).toEqual([]);
  });

  test('is neither in its error nor in the store nor in the log when the agent fails with it', async () => {
    const { frames } = await ask({ fails: true });
    expect(frames.join('\n')).toContain('e2a.error');
    await expect.poll(() => system.log).toContain('the token [redacted] was refused');
    const seen = { text: frames.join('\n'), log: system.log };
    expect(canaryScan({ secret: TOKEN, kept: await system.kept(), seen })).toEqual([]);
  });
});

function get(path: string): JsonObject {
  const headers = { 'X-Key': { credentialRef: { id: 'key' } } };
  return { ApiCall: { method: 'GET', url: `${api.url}${path}`, headers, outputPath: `/workflow${path}` } };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function lines(text: string, lineBreak: string): string {
  return text.replace(/.{12}/g, (line) => `${line}${lineBreak}`);
}

function entities(text: string, written: (code: number) => string): string {
  return [...text].map((character) => written(character.charCodeAt(0))).join('');
}
