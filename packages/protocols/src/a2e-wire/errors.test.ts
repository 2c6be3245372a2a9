import { expect, test } from 'vitest';
import { FAILURES } from '../failure.ts';
import { isWireErrorCode, WIRE_ERRORS } from './errors.ts';

test('every failure of ours has a code of the table', () => {
  for (const { wire } of Object.values(FAILURES)) expect(Object.keys(WIRE_ERRORS)).toContain(wire);
});

test('the codes the protocol calls retryable are', () => {
  const retryable = Object.entries(WIRE_ERRORS).flatMap(([code, row]) => (row.retryable ? [code] : []));
  expect(retryable.sort()).toEqual([
    'busy',
    'chain_node_error',
    'internal_error',
    'mcp_server_unavailable',
    'mcp_transport_error',
    'out_of_memory',
    'rate_limited',
    'runtime_error',
    'sandbox_crash',
    'skill_error',
    'timeout',
    'tool_error',
  ]);
});

test('a name every object has is not a code', () => {
  expect(isWireErrorCode('constructor')).toBe(false);
  expect(isWireErrorCode('timeout')).toBe(true);
});
