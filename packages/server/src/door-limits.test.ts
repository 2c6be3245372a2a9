import { expect, test } from 'vitest';
import { parseConfig } from './config.ts';
import { DOOR_LIMITS, edgeLimits, identifyMs, jsonLimits, lineLimits } from './door-limits.ts';
import { DEFAULT_HTTP_LIMITS, DEFAULT_SOCKET_LIMITS } from './edges/limits.ts';
import { DEFAULT_LINE_LIMITS } from './edges/ndjson-lines.ts';

test('the config takes every limit of the doors, and refuses a nonsensical one with the place', () => {
  for (const name of Object.keys(DOOR_LIMITS)) {
    expect(parseConfig(`limits: { ${name}: ${name === 'json_depth' ? 100 : 100_000} }`), name).toMatchObject({
      ok: true,
    });
    expect(parseConfig(`limits:\n  ${name}: 0`), name).toMatchObject({ ok: false, issues: [{ line: 2, column: 3 }] });
  }
});

test('what is told replaces a default, and what is not told leaves it', () => {
  const { limits, socketLimits } = edgeLimits({ headers_ms: 700, message_bytes: 4096 });
  expect({ ...DEFAULT_HTTP_LIMITS, ...limits }).toEqual({ ...DEFAULT_HTTP_LIMITS, headersMs: 700 });
  expect({ ...DEFAULT_SOCKET_LIMITS, ...socketLimits }).toEqual({ ...DEFAULT_SOCKET_LIMITS, maxMessageBytes: 4096 });
  expect([lineLimits({}), lineLimits({ message_ms: 700 })]).toEqual([{}, { lineMs: 700 }]);
  expect([jsonLimits({}), jsonLimits({ json_depth: 7 })]).toEqual([{}, { depth: 7 }]);
});

test('the defaults that the descriptions name are those of the edges', () => {
  const named = Object.fromEntries(
    Object.entries(DOOR_LIMITS).map(([name, { description }]) => [
      name,
      Number(/; (\d+) unless/.exec(description)?.[1]),
    ]),
  );
  const { limits, socketLimits } = edgeLimits(named);
  expect(DEFAULT_HTTP_LIMITS).toMatchObject(limits);
  expect(DEFAULT_SOCKET_LIMITS).toMatchObject(socketLimits);
  expect(DEFAULT_LINE_LIMITS).toMatchObject(lineLimits(named));
  expect(DOOR_LIMITS.identify_ms.description).toContain(`; ${identifyMs({})} unless told`);
});
