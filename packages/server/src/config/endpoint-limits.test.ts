import { DEFAULT_JSON_LIMITS } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { DEFAULT_HTTP_LIMITS, DEFAULT_SOCKET_LIMITS } from '../edges/limits.ts';
import { DEFAULT_LINE_LIMITS } from '../edges/ndjson-lines.ts';
import { parseConfig } from './config.ts';
import {
  ENDPOINT_LIMITS,
  type EndpointLimits,
  edgeLimits,
  identifyMs,
  jsonLimits,
  lineLimits,
} from './endpoint-limits.ts';

test('the config takes every limit of the doors, and refuses a nonsensical one with the place', () => {
  for (const [name, limit] of Object.entries(ENDPOINT_LIMITS)) {
    const maximum = 'maximum' in limit ? limit.maximum : undefined;
    for (const good of [limit.minimum, maximum ?? 100_000]) {
      expect(parseConfig(`limits: { ${name}: ${good} }`), name).toMatchObject({ ok: true });
    }
    for (const bad of [0, limit.minimum - 1, ...(maximum === undefined ? [] : [maximum + 1])]) {
      const refused = { ok: false, issues: [{ line: 2, column: 3 }] };
      expect(parseConfig(`limits:\n  ${name}: ${bad}`), name).toMatchObject(refused);
    }
  }
});

test('what is told replaces a default, and what is not told leaves it', () => {
  const { limits, socketLimits } = edgeLimits({ headers_ms: 700, message_bytes: 4096 });
  expect({ ...DEFAULT_HTTP_LIMITS, ...limits }).toEqual({ ...DEFAULT_HTTP_LIMITS, headersMs: 700 });
  expect({ ...DEFAULT_SOCKET_LIMITS, ...socketLimits }).toEqual({ ...DEFAULT_SOCKET_LIMITS, maxMessageBytes: 4096 });
  expect([lineLimits({}), lineLimits({ message_ms: 700 })]).toEqual([{}, { lineMs: 700 }]);
  expect([jsonLimits({}), jsonLimits({ json_depth: 7 })]).toEqual([{}, { depth: 7 }]);
  const json = { json_nodes: 1000, json_key_bytes: 64, json_string_bytes: 2000, json_number_chars: 30 };
  expect(jsonLimits(json)).toEqual({ nodes: 1000, keyBytes: 64, stringBytes: 2000, numberCharacters: 30 });
});

test('the defaults that the descriptions name are those of the edges', () => {
  const named = Object.fromEntries(
    Object.entries(ENDPOINT_LIMITS).map(([name, { description }]) => [
      name,
      Number(/Default: (\d+)/.exec(description)?.[1]),
    ]),
  );
  const { limits, socketLimits } = edgeLimits(named);
  expect(DEFAULT_HTTP_LIMITS).toMatchObject(limits);
  expect(DEFAULT_SOCKET_LIMITS).toMatchObject(socketLimits);
  expect(DEFAULT_LINE_LIMITS).toMatchObject(lineLimits(named));
  const { json_depth, json_number_chars } = named;
  expect(jsonLimits({ json_depth, json_number_chars } as EndpointLimits)).toEqual({ depth: 64, numberCharacters: 64 });
  expect(DEFAULT_JSON_LIMITS).toMatchObject({ depth: 64, numberCharacters: 64 });
  expect(ENDPOINT_LIMITS.identify_ms.description).toContain(`. Default: ${identifyMs({})}`);
});
