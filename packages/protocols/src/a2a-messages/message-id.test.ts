import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fittingAgentId, isAgentId } from './agent-id.ts';
import { derivedMessageId, isMessageId, messageIdFrom } from './message-id.ts';

test('32 hex digits become a version 4 UUID; only the version and the variant change', () => {
  expect(messageIdFrom('ffffffffffffffffffffffffffffffff')).toBe('ffffffff-ffff-4fff-bfff-ffffffffffff');
  expect(messageIdFrom('00000000000000000000000000000000')).toBe('00000000-0000-4000-8000-000000000000');
  expect(messageIdFrom('0123456789abcdef0123456789abcdef')).toBe('01234567-89ab-4def-8123-456789abcdef');
});

test('an id derived from a text is valid, and stays what it is', () => {
  // Fixed here, because it is stored and sent: another hash would repeat old answers under new ids.
  expect(derivedMessageId('req_1')).toBe('7706e7c6-8959-410a-a9be-fddd3a440703');
  fc.assert(fc.property(fc.string(), (text) => isMessageId(derivedMessageId(text))));
});

test('ten thousand similar texts have ten thousand ids', () => {
  const ids = new Set(Array.from({ length: 10_000 }, (_, index) => derivedMessageId(`req_${index}`)));
  expect(ids.size).toBe(10_000);
});

test('one bit of the text changes about half the bits of the id', () => {
  const bits = (id: string) => BigInt(`0x${id.replaceAll('-', '')}`);
  let changed = 0;
  for (let index = 0; index < 500; index++) {
    let difference = bits(derivedMessageId(`a${index}`)) ^ bits(derivedMessageId(`b${index}`));
    for (; difference > 0n; difference >>= 1n) changed += Number(difference & 1n);
  }
  expect(changed / 500).toBeGreaterThan(55);
  expect(changed / 500).toBeLessThan(67);
});

test('a name from elsewhere is fitted into an agent id', () => {
  expect(fittingAgentId('did:web:agent.example')).toBe('did-web-agent-example');
  expect(fittingAgentId('x')).toBe('agent-x');
  expect(fittingAgentId('агент')).toBe('agent');
  expect(fittingAgentId('a'.repeat(300))).toBe('a'.repeat(128));
  fc.assert(fc.property(fc.string({ maxLength: 200 }), (name) => isAgentId(fittingAgentId(name))));
});

test('an agent id is already fitting', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-zA-Z0-9][a-zA-Z0-9-]{1,126}[a-zA-Z0-9]$/), (id) => fittingAgentId(id) === id),
  );
});
