import { expect, test } from 'vitest';
import { decodeBaseUrl } from './base-url.ts';

test.each([
  ['https://api.example.com', 'https://api.example.com'],
  ['https://api.example.com/', 'https://api.example.com'],
  ['HTTPS://API.Example.com:443/v1/', 'https://api.example.com/v1'],
  ['http://127.0.0.1:9000', 'http://127.0.0.1:9000'],
  ['https://api.example.com/a%2Fb/v..2', 'https://api.example.com/a%2Fb/v..2'],
])('%s is kept as %s', (text, kept) => {
  expect(decodeBaseUrl(text)).toMatchObject({ ok: true, value: kept });
});

test.each([
  'api.example.com',
  '//api.example.com',
  '/v1',
  'ftp://api.example.com',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https:api.example.com',
  'https:\\\\api.example.com',
  'https://api.example.com\\@evil.example',
  ' https://api.example.com',
  'https://api.exa\nmple.com',
  'https://api.example.com/a b',
  'https://user@api.example.com',
  'https://:password@api.example.com',
  'https://api.example.com?key=1',
  'https://api.example.com/v1?',
  'https://api.example.com/#top',
  'https://api.example.com.',
  'https://api.example.com/v1/../admin',
  'https://api.example.com/v1/%2e%2E/admin',
  'https://',
  'https://exa mple.com',
  'https://{region}.example.com',
  'https://api.example.com/{version}',
])('%j is refused, with what would be right', (text) => {
  const outcome = decodeBaseUrl(text);
  expect(outcome).toMatchObject({
    ok: false,
    issues: [
      {
        pointer: '/base_url',
        message: expect.stringContaining('base_url must be'),
        suggestion: expect.stringContaining('https'),
      },
    ],
  });
});

test('a password in it is not repeated', () => {
  expect(JSON.stringify(decodeBaseUrl('https://me:hunter2@api.example.com'))).not.toContain('hunter2');
});
