import { describe, expect, test } from 'vitest';
import { formats } from './formats.ts';

describe('date-time', () => {
  test('is the strict RFC 3339 that the clock functions read', () => {
    expect(formats['date-time']?.('2026-03-28T12:00:00Z')).toBe(true);
    expect(formats['date-time']?.('2026-02-30T12:00:00Z')).toBe(false);
  });
});

describe('uri', () => {
  test.each([
    'https://agent.example/a2a',
    'http://127.0.0.1:7420/a?b=c&d=%20#e',
    'https://[2001:db8::1]:8443/',
    'mailto:agent@example.com',
    'urn:uuid:0a1b2c3d-0000-4000-8000-000000000000',
    'data:text/plain,hello',
  ])('%s is one', (text) => {
    expect(formats['uri']?.(text)).toBe(true);
  });

  test.each([
    ['', 'nothing'],
    ['/a2a', 'relative'],
    ['agent.example/a2a', 'no scheme'],
    ['//agent.example/a2a', 'no scheme'],
    ['https://', 'no host'],
    ['https://agent example/', 'a space'],
    ['https://agent.example/ä', 'a character a URI may not hold'],
    ['https://agent.example/%zz', 'a bad escape'],
    ['https://agent.example/\n', 'a line break'],
    ['https://agent.example/"', 'a quote'],
    ['https://agent.example:99999/', 'a port past the last'],
    ['1https://agent.example/', 'a scheme that starts with a digit'],
  ])('%j is invalid: %s', (text) => {
    expect(formats['uri']?.(text)).toBe(false);
  });

  test('a long invalid text is recognized in one pass', () => {
    expect(formats['uri']?.(`https://a/${'%41'.repeat(100_000)} `)).toBe(false);
  });
});
