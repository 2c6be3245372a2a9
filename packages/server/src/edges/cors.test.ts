import { failure } from '@dragoman/protocols';
import { describe, expect, test } from 'vitest';
import { exchangeRaw, head, route, startEdge } from './harness.contract.ts';

const PAGE = 'https://console.example.com';
const routes = [
  route({ path: '/things', access: 'public' }),
  route({
    method: 'POST',
    path: '/things',
    access: 'agent',
    counts: true,
    body: { contentTypes: ['application/json'], maxBytes: 10 },
  }),
];
const limit = { name: 'minute', limit: 60, remaining: 0, windowSeconds: 60, resetAt: 1_760_000_060 };

describe('a page of an origin that may call', () => {
  test('gets the answer to its preflight without a key', async () => {
    const received = await ask({
      method: 'OPTIONS',
      fields: [`Origin: ${PAGE}`, 'Access-Control-Request-Method: POST', 'Access-Control-Request-Headers: x-api-key'],
    });
    expect(received).toMatch(/^HTTP\/1.1 204 /);
    expect(fieldOf(received, 'Access-Control-Allow-Origin')).toBe(PAGE);
    expect(fieldOf(received, 'Access-Control-Allow-Methods')).toBe('GET, HEAD, POST');
    const taken = fieldOf(received, 'Access-Control-Allow-Headers')?.toLowerCase() ?? '';
    const needed = ['authorization', 'x-api-key', 'content-type', 'idempotency-key', 'last-event-id', 'x-session-id'];
    for (const name of needed) expect(taken.split(', ')).toContain(name);
    expect(fieldOf(received, 'Vary')).toBe('Origin');
    expect(received).not.toMatch(/Allow-Credentials|Private-Network/);
  });

  test('may call a server on a private network when the browser asks for that', async () => {
    const fields = [
      `Origin: ${PAGE}`,
      'Access-Control-Request-Method: GET',
      'Access-Control-Request-Private-Network: true',
    ];
    expect(fieldOf(await ask({ method: 'OPTIONS', fields }), 'Access-Control-Allow-Private-Network')).toBe('true');
  });

  test('reads answers, refusals and the headers about limits', async () => {
    const good = await ask({ fields: [`Origin: ${PAGE}`] });
    expect(good).toMatch(/^HTTP\/1.1 200 /);
    const refused = await ask({ method: 'POST', fields: [`Origin: ${PAGE}`, 'X-API-Key: ada'] });
    expect(refused).toMatch(/^HTTP\/1.1 429 /);
    for (const received of [good, refused, await ask({ method: 'POST', fields: [`Origin: ${PAGE}`] })]) {
      expect(fieldOf(received, 'Access-Control-Allow-Origin')).toBe(PAGE);
      expect(fieldOf(received, 'Vary')).toBe('Origin');
      const exposed = fieldOf(received, 'Access-Control-Expose-Headers')?.split(', ');
      for (const name of ['Retry-After', 'RateLimit', 'RateLimit-Policy', 'X-RateLimit-Remaining', 'Location']) {
        expect(exposed).toContain(name);
      }
    }
  });
});

describe('any other caller', () => {
  test.each([['https://evil.example.com'], ['null'], ['https://console.example.com.evil.example'], ['*']])(
    'of origin %s is refused, without headers that let a page read the answer',
    async (origin) => {
      for (const method of ['GET', 'OPTIONS']) {
        const received = await ask({ method, fields: [`Origin: ${origin}`, 'Access-Control-Request-Method: GET'] });
        expect(received).toMatch(/^HTTP\/1.1 403 /);
        expect(received).not.toContain('Access-Control-');
      }
    },
  );

  test('without an origin is answered as before, with Vary: Origin for caches', async () => {
    const received = await ask({});
    expect(received).not.toContain('Access-Control-');
    expect(fieldOf(received, 'Vary')).toBe('Origin');
    expect(await ask({}, [])).not.toMatch(/Vary/);
  });

  test('that sends OPTIONS without an origin gets 405', async () => {
    expect(await ask({ method: 'OPTIONS' })).toMatch(/^HTTP\/1.1 405 /);
  });
});

async function ask(parts: { method?: string; fields?: string[] }, origins = [PAGE]): Promise<string> {
  const count = () => ({ limits: [limit], failure: failure('rate_limited', { retry_after: 3 }) });
  const { port, host } = await startEdge({ routes, origins, count });
  const fields = [...(parts.fields ?? []), 'Connection: close'];
  return exchangeRaw(port, head({ ...parts, path: '/things', host, fields }));
}

function fieldOf(received: string, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)\\r$`, 'im').exec(received)?.[1];
}
