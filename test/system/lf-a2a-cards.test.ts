import { createPublicKey } from 'node:crypto';
import { type AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { canonicalJson } from '../../packages/protocols/src/canonical-json.ts';
import { call } from './call.ts';
import { agentModule, moduleAgent, System } from './system.ts';

// Cards of Linux Foundation A2A.

const agents = { worker: { ...moduleAgent('worker'), skills: ['work'] }, hidden: moduleAgent('echo') };
const system = await System.start({
  config: {
    default_agent: 'worker',
    agents,
    tools: [agentModule('tools')],
    trusted_proxies: ['127.0.0.1'],
    allowed_hosts: ['agents.example.com'],
  },
});
const configured = await System.start({
  config: { default_agent: 'worker', agents, public_url: 'https://a.example/base/' },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await configured[Symbol.asyncDispose]();
});
const { api_key: key } = await system.caller('ada-agent', { permissions: { agents: ['*'], tools: ['*'] } });
const { api_key: poorKey } = await system.caller('bob-agent', { permissions: { agents: ['worker'] } });

const ROOT = '/.well-known/agent-card.json';
const WORKER = `/lf-a2a/agents/worker${ROOT}`;
interface Card extends Record<string, unknown> {
  readonly supportedInterfaces: {
    readonly url: string;
    readonly protocolBinding: string;
    readonly protocolVersion: string;
  }[];
  readonly signatures: { readonly protected: string; readonly signature: string }[];
  readonly skills: { readonly id: string }[];
}
const get = (path: string, headers: Record<string, string> = {}, url = system.url) => call(url, { path, headers });
const cardAt = async (path: string, headers: Record<string, string> = {}, url = system.url) =>
  (await (await get(path, headers, url)).json()) as Card;

describe('a card', () => {
  test('is the one of 1.0 alone for a client of 1.0, and has the members of 0.3 for any other', async () => {
    const pure = await cardAt(WORKER, { 'a2a-version': '1.0' });
    expect(Object.keys(pure)).not.toContain('protocolVersion');
    const hybrid = await cardAt(WORKER);
    expect(hybrid).toMatchObject({ protocolVersion: '0.3.0', preferredTransport: 'JSONRPC', url: expect.any(String) });
    expect(hybrid.supportedInterfaces).toEqual(pure.supportedInterfaces);
    expect((await get(WORKER)).headers['vary']).toContain('A2A-Version');
  });

  test.each([WORKER, ROOT, '/.well-known/ai-catalog.json', '/.well-known/jwks.json'])(
    '%s is not sent again to a client that has it',
    async (path) => {
      const first = await get(path);
      const { etag = '' } = first.headers;
      expect([first.status, etag]).toEqual([200, expect.stringMatching(/^"[\w-]{22}"$/)]);
      expect(first.headers['cache-control']).toBe('public, max-age=60');
      const again = await get(path, { 'if-none-match': `"other", W/${etag}` });
      expect([again.status, await again.text(), again.headers['etag']]).toEqual([304, '', etag]);
      expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
    },
  );

  test('has another tag in another version', async () => {
    const old = await get(WORKER);
    const current = await get(WORKER, { 'a2a-version': '1.0' });
    expect(old.headers['etag']).not.toBe(current.headers['etag']);
  });

  test.each([WORKER, ROOT])(
    '%s is signed: the official SDK finds the signature good, and a changed card bad',
    async (path) => {
      // The SDK writes down each signature that is not over the form of a card that it knows.
      vi.spyOn(console, 'debug').mockReturnValue();
      const card = await cardAt(path, { 'a2a-version': '1.0' });
      const verify = verifyAgentCardSignature(async (kid, jku = '') => {
        const { keys } = (await (await get(new URL(jku).pathname)).json()) as { keys: { kid: string }[] };
        const jwk = keys.find((one) => one.kid === kid);
        return createPublicKey({ key: jwk as never, format: 'jwk' });
      });
      await verify(card as unknown as AgentCard);
      await expect(verify({ ...card, name: 'Mallory' } as unknown as AgentCard)).rejects.toThrow('No valid signatures');
    },
  );

  test('one signature is over the canonical JSON of the whole card, whatever a reader makes of it', async () => {
    const { signatures, ...card } = await cardAt(WORKER);
    const { keys } = (await (await get('/.well-known/jwks.json')).json()) as { keys: object[] };
    const publicKey = createPublicKey({ key: keys[0] as never, format: 'jwk' });
    const { verify } = await import('node:crypto');
    const payload = Buffer.from(canonicalJson(card as never)).toString('base64url');
    const good = signatures.filter((one) =>
      verify(null, Buffer.from(`${one.protected}.${payload}`), publicKey, Buffer.from(one.signature, 'base64url')),
    );
    expect(good).toHaveLength(1);
    const header = JSON.parse(Buffer.from(good[0]?.protected ?? '', 'base64url').toString());
    expect(header).toMatchObject({ alg: 'EdDSA', typ: 'JOSE', jku: `${system.url}/.well-known/jwks.json` });
  });

  test('of the agent tools has a skill for each tool that the caller may call', async () => {
    const path = `/lf-a2a/agents/tools${ROOT}`;
    const skills = async (by: string) =>
      (await cardAt(path, { authorization: `Bearer ${by}` })).skills.map(({ id }) => id);
    expect((await skills(key)).length).toBeGreaterThan(1);
    // Agents are tools too.
    expect(await skills(poorKey)).toEqual(['worker']);
  });

  test('with more for a key: the extended card is for callers who may reach the agent', async () => {
    const extended = (agent: string, by: string) =>
      call(system.url, { path: `/lf-a2a/agents/${agent}/extendedAgentCard`, key: by });
    expect((await extended('hidden', key)).status).toBe(200);
    expect((await extended('hidden', poorKey)).status).toBe(404);
    expect((await get('/lf-a2a/agents/hidden/extendedAgentCard')).status).toBe(401);
  });
});

test('the catalog of the server is an AI Catalog 1.0 with the card of each agent that the caller may see', async () => {
  const catalog = async (headers: Record<string, string>) => {
    const answer = await get('/.well-known/ai-catalog.json', headers);
    expect(answer.headers['content-type']).toBe('application/ai-catalog+json');
    return (await answer.json()) as {
      specVersion: string;
      entries: { identifier: string; type: string; url: string }[];
    };
  };
  expect(await catalog({})).toEqual({
    specVersion: '1.0',
    entries: [
      {
        identifier: 'urn:air:127.0.0.1:agent:worker',
        type: 'application/a2a-agent-card+json',
        url: `${system.url}${WORKER}`,
      },
    ],
  });
  const { entries } = await catalog({ authorization: `Bearer ${key}` });
  expect(entries.map(({ identifier }) => identifier.split(':').at(-1))).toEqual([
    ...['worker', 'hidden', 'tools', 'workflows', 'agents'],
  ]);
  for (const { url } of entries) {
    const card = await cardAt(new URL(url).pathname, { authorization: `Bearer ${key}` });
    expect(card.supportedInterfaces.length).toBeGreaterThan(3);
  }
});

describe('the URLs of a card', () => {
  const urlOf = async (headers: Record<string, string>, url?: string) =>
    (await cardAt(WORKER, headers, url)).supportedInterfaces[0]?.url.replace('/lf-a2a/agents/worker', '');

  test('are what the request used', async () => {
    expect(await urlOf({})).toBe(system.url);
  });

  test('behind a trusted proxy are what its client used, also below a path', async () => {
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'agents.example.com' };
    expect(await urlOf(forwarded)).toBe('https://agents.example.com');
    expect(await urlOf({ ...forwarded, 'x-forwarded-prefix': '/team/a' })).toBe('https://agents.example.com/team/a');
    expect(await urlOf({ ...forwarded, 'x-forwarded-host': 'agents.example.com, inner.example' })).toBe(
      'https://agents.example.com',
    );
  });

  test.each([
    { 'x-forwarded-host': 'evil.example' },
    { 'x-forwarded-prefix': '/../../x' },
    { 'x-forwarded-prefix': '//evil.example' },
    { 'x-forwarded-prefix': '/a?b' },
    { 'x-forwarded-proto': 'javascript' },
  ])('omit values without a meaning: %j', async (headers) => {
    expect(await urlOf(headers)).toBe(system.url);
  });

  test('are those of public_url where it is configured, and an anonymous caller cannot change them', async () => {
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' };
    expect(await urlOf(forwarded, configured.url)).toBe('https://a.example/base');
    const { agents: listed } = (await (await get('/lf-a2a/agents', {}, configured.url)).json()) as {
      agents: { id: string; url: string }[];
    };
    expect(listed).toEqual([
      expect.objectContaining({ id: 'worker', url: `https://a.example/base/lf-a2a/agents/worker${ROOT}` }),
    ]);
  });
});
