import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { faultOfCallbackUrl } from './callback-url.ts';

describe('a callback URL', () => {
  test.each([
    'https://my-agent.com/a2a/responses',
    'https://my-agent.com',
    'HTTPS://My-Agent.com/A2A',
    'https://my-agent.com:8443/a2a?key=value&other=%20',
    'https://[2001:db8::1]/a2a',
    'https://xn--mnchen-3ya.example/a2a',
    'https://localhost/a2a',
  ])('%s is fine', (url) => {
    expect(faultOfCallbackUrl(url)).toBeUndefined();
  });

  test.each([
    ['http://my-agent.com', 'start it with https://'],
    ['ftp://my-agent.com', 'start it with https://'],
    ['javascript:alert(1)', 'start it with https://'],
    ['https:/my-agent.com', 'start it with https://'],
    ['\thttps://my-agent.com', 'start it with https://'],
    ['https://', 'use a URL such as https://agent.example/a2a/responses'],
    ['https://my agent.com', 'use a URL such as https://agent.example/a2a/responses'],
    ['https://münchen.example/', 'use a URL such as https://agent.example/a2a/responses'],
    ['https://my-agent.com:99999/', 'use a URL such as https://agent.example/a2a/responses'],
    ['https://1.2.3.256/', 'use a URL such as https://agent.example/a2a/responses'],
    ['https://user@my-agent.com/', 'leave out the user name and password'],
    ['https://:secret@my-agent.com/', 'leave out the user name and password'],
    ['https://my-agent.com/#', 'leave out the fragment'],
    [`https://my-agent.com/${'a'.repeat(2048)}`, 'use at most 2048 characters'],
  ])('%s is not: %s', (url, fault) => {
    expect(faultOfCallbackUrl(url)).toBe(fault);
  });

  test('that is found fine is one every runtime reads as https, without credentials', () => {
    const texts = fc
      .tuple(fc.constantFrom('https://', 'https:', 'HTTPS://', ''), fc.webUrl({ validSchemes: ['https'] }), fc.string())
      .map(([start, url, rest]) => start + url.slice(8) + rest);
    fc.assert(
      fc.property(
        fc.oneof(
          texts,
          fc.webUrl(),
          fc.domain().map((domain) => `https://${domain}`),
        ),
        (text) => {
          if (faultOfCallbackUrl(text) !== undefined) return;
          const url = new URL(text);
          expect([url.protocol, url.username, url.password, url.hash]).toEqual(['https:', '', '', '']);
        },
      ),
      // Shrinking a URL can take minutes; the first one found is enough.
      { numRuns: 500, endOnFailure: true },
    );
  });
});
