import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgentCard } from './agent-card.ts';
import { negotiate, negotiateProtocol, negotiateSchemaVersion } from './negotiation.ts';

const card = (given: Partial<AgentCard>): AgentCard => ({
  agent_id: 'agent-1',
  name: 'Agent',
  version: '1.0.0',
  description: '',
  capabilities: ['streaming'],
  supported_protocols: ['A2A/1.0'],
  ...given,
});

describe('protocol', () => {
  test('the highest version both name is taken, by number and not by text', () => {
    expect(negotiateProtocol(['A2A/1.9', 'A2A/1.10', 'A2A/2.0'], ['A2A/1.10', 'A2A/1.9'])).toBe('A2A/1.10');
  });

  test('a shared major version is not enough', () => {
    expect(negotiateProtocol(['A2A/1.0'], ['A2A/1.1'])).toBeUndefined();
  });

  test('an invalid A2A version is skipped', () => {
    expect(negotiateProtocol(['MCP/1.0', 'A2A/1', 'a2a/1.0'], ['MCP/1.0', 'A2A/1', 'a2a/1.0'])).toBeUndefined();
  });

  test('both sides agree, in any order of their lists', () => {
    const version = fc.tuple(fc.nat(12), fc.nat(12)).map(([major, minor]) => `A2A/${major}.${minor}`);
    fc.assert(
      fc.property(fc.array(version), fc.array(version), (ours, theirs) => {
        const agreed = negotiateProtocol(ours, theirs);
        expect(negotiateProtocol(theirs.toReversed(), ours.toReversed())).toBe(agreed);
        if (agreed === undefined) expect(ours.some((one) => theirs.includes(one))).toBe(false);
      }),
    );
  });
});

describe('schema version', () => {
  test('the highest both name is taken', () => {
    expect(negotiateSchemaVersion(['1.0.0', '1.2.0', '1.10.0'], ['1.2.0', '1.10.0'])).toBe('1.10.0');
  });

  test('a card that names none speaks 1.0.0; metadata counts where the card itself names none', () => {
    expect(negotiate(card({}), card({ schema_versions: ['1.0.0', '1.1.0'] }))).toMatchObject({
      schemaVersion: '1.0.0',
    });
    const peer = card({ metadata: { schema_versions: ['1.1.0', 7] } });
    expect(negotiate(card({ schema_versions: ['1.0.0', '1.1.0'] }), peer)).toMatchObject({ schemaVersion: '1.1.0' });
    expect(negotiate(card({}), card({ metadata: { schema_versions: 'all' } }))).toMatchObject({
      schemaVersion: '1.0.0',
    });
  });
});

describe('no common version', () => {
  test('is a version_mismatch that names the versions of each side', () => {
    expect(negotiate(card({}), card({ supported_protocols: ['A2A/3.0'] }))).toMatchObject({
      ok: false,
      failure: {
        code: 'version_mismatch',
        message: 'No common protocol: this side supports A2A/1.0, the other side A2A/3.0.',
      },
    });
    expect(negotiate(card({}), card({ schema_versions: ['2.0.0'] }))).toMatchObject({
      ok: false,
      failure: { message: 'No common schema version: this side supports 1.0.0, the other side 2.0.0.' },
    });
  });

  test('is reported briefly, however long the list', () => {
    const many = Array.from({ length: 1000 }, (_, index) => `A2A/9.${index}`);
    const outcome = negotiate(card({}), card({ supported_protocols: many }));
    expect(!outcome.ok && outcome.failure.message).toMatch(/and 995 more\.$/);
  });
});
