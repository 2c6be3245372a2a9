import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AGENT_ID_PATTERN, formatAgentId, isMailboxAgentId, parseAgentId, sameAgentId } from './agent-id.ts';

const digits = (maxLength: number) => fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength });
const address = fc
  .string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: 40, maxLength: 40 })
  .map((hex) => `0x${hex}`);
const agentIds = fc.record({ chainId: digits(32), registry: address, tokenId: digits(78) });

describe('an agentId', () => {
  test('is the same after it was written and read', () => {
    fc.assert(
      fc.property(agentIds, (id) => {
        expect(parseAgentId(formatAgentId(id))).toEqual(id);
      }),
    );
  });

  test('is taken by the published pattern exactly when it is taken here', () => {
    const pattern = new RegExp(AGENT_ID_PATTERN);
    const edited = fc
      .tuple(agentIds.map(formatAgentId), fc.nat(140), fc.constantFrom('', ':', '0', 'f', 'x', 'g', '\n', '00000000'))
      .map(([text, at, piece]) => text.slice(0, at) + piece + text.slice(at + 1));
    fc.assert(
      fc.property(fc.oneof(edited, fc.string()), (text) => {
        expect(isMailboxAgentId(text)).toBe(pattern.test(text));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['eip155:8453:0x8004...:18608', 'the elided id of the callback example'],
    ['eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432', 'no token'],
    ['eip155::0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:1', 'no chain'],
    [`eip155:${'1'.repeat(33)}:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:1`, 'a chain of 33 digits'],
    ['EIP155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:1', 'a namespace in capitals'],
  ])('%s is invalid: %s', (text) => {
    expect(parseAgentId(text)).toBeUndefined();
  });

  test('names the same agent whatever the case of its address and the zeros before its numbers', () => {
    const one = 'eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:12';
    expect(sameAgentId(one, 'eip155:08453:0x8004a169fb4a3325136eb29fa0ceb6d2e539a432:012')).toBe(true);
    expect(sameAgentId(one, 'eip155:8453:0x8004a169fb4a3325136eb29fa0ceb6d2e539a432:120')).toBe(false);
    expect(sameAgentId(one, 'eip155:1:0x8004a169fb4a3325136eb29fa0ceb6d2e539a432:12')).toBe(false);
  });

  test('that is invalid equals nothing, not even itself', () => {
    expect(sameAgentId('agent', 'agent')).toBe(false);
  });
});
