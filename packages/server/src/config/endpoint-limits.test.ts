import { DEFAULT_JSON_LIMITS } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { DEFAULT_HTTP_LIMITS, DEFAULT_SOCKET_LIMITS } from '../edges/limits.ts';
import { DEFAULT_LINE_LIMITS } from '../edges/ndjson-lines.ts';
import { completeConfig } from './complete-config.ts';
import { parseConfig } from './config.ts';
import type { Config } from './config-schema.ts';
import { ENDPOINT_LIMITS, type EndpointLimits, edgeLimits, jsonLimits, lineLimits } from './endpoint-limits.ts';

test('the config accepts every endpoint limit, and reports an invalid one with its place', () => {
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

test('a given value replaces a default, and the other defaults are those of the edges', () => {
  const { limits, socketLimits } = edgeLimits(endpointLimits({ headers_ms: 700, message_bytes: 4096 }));
  expect({ ...DEFAULT_HTTP_LIMITS, ...limits }).toEqual({ ...DEFAULT_HTTP_LIMITS, headersMs: 700 });
  expect({ ...DEFAULT_SOCKET_LIMITS, ...socketLimits }).toEqual({ ...DEFAULT_SOCKET_LIMITS, maxMessageBytes: 4096 });
  expect(DEFAULT_LINE_LIMITS).toMatchObject(lineLimits(endpointLimits({})));
  expect(lineLimits(endpointLimits({ message_ms: 700 }))).toMatchObject({ lineMs: 700 });
  const { depth, keys, numberCharacters } = DEFAULT_JSON_LIMITS;
  expect(jsonLimits(endpointLimits({}))).toEqual({ depth, keys, numberCharacters });
  const json = { json_nodes: 1000, json_key_bytes: 64, json_string_bytes: 2000, json_number_chars: 30 };
  const given = { nodes: 1000, keyBytes: 64, stringBytes: 2000, numberCharacters: 30 };
  expect(jsonLimits(endpointLimits(json))).toEqual({ depth, keys, ...given });
});

function endpointLimits(limits: NonNullable<Config['limits']>): EndpointLimits {
  return completeConfig({ limits }).limits;
}
