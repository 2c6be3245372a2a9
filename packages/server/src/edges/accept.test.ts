import { describe, expect, test } from 'vitest';
import { negotiateType, notAcceptable } from './accept.ts';

const OFFERED = ['application/json', 'text/event-stream', 'application/x-ndjson'] as const;

describe('negotiation', () => {
  test.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['text/event-stream', 'text/event-stream'],
    ['Text/Event-Stream', 'text/event-stream'],
    ['application/x-ndjson', 'application/x-ndjson'],
    ['text/*', 'text/event-stream'],
    ['application/*', 'application/json'],
    ['text/html, application/xhtml+xml, */*;q=0.8', 'application/json'],
    ['application/json;q=0.5, text/event-stream', 'text/event-stream'],
    ['application/json;q=0.5, text/event-stream;q=0.5', 'application/json'],
    ['application/json;q=0, */*', 'text/event-stream'],
    ['*/*;q=0.1, application/x-ndjson', 'application/x-ndjson'],
    ['application/*;q=0.2, application/json;q=0.1', 'application/x-ndjson'],
    ['text/event-stream; charset=utf-8; q=0.9, application/json; q=0.8', 'text/event-stream'],
    ['text/html', undefined],
    ['application/json;q=0', undefined],
    ['*/*;q=0', undefined],
    ['application/json;q=2', undefined],
    ['application/json;q=x', undefined],
    ['application/json;q=0.1234', undefined],
    ['json', undefined],
    [',', undefined],
    [';;;,/,q=1', undefined],
  ])('%s: %s', (accept, expected) => {
    expect(negotiateType(accept, OFFERED)).toBe(expected);
  });

  test('the refusal lists the available types', () => {
    expect(notAcceptable(OFFERED)).toMatchObject({
      status: 406,
      headers: { 'Content-Type': 'application/problem+json' },
      json: { code: 'not_acceptable', suggestions: OFFERED.map((type) => `Accept: ${type}`) },
    });
  });
});
