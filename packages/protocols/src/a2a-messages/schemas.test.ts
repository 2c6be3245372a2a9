import { describe, expect, test } from 'vitest';
import { loadFixtures } from '../../../../scripts/conformance.ts';
import * as validators from '../generated/a2a-messages.js';
import type { JsonSchema } from '../schema.ts';
import { MESSAGE_TYPES } from './message.ts';
import set from './schemas.ts';

const BASE = 'https://dragoman.example/schemas/a2a-messages';

describe('the published schemas', () => {
  test('carry the names of the spec', () => {
    expect(Object.values(set.schemas).map((schema) => schema['$id'])).toEqual(
      [
        'base-message',
        'request-message',
        'response-message',
        'handshake-message',
        'handshake-ack-message',
        'error-message',
        'discover-agents-message',
        'agent-announcement-message',
        'goodbye-message',
        'authenticated-message',
        'agent-card',
      ].map((file) => `${BASE}/${file}.json`),
    );
  });

  test('are a base message and their own part, as the spec composes them', () => {
    for (const [name, schema] of Object.entries(set.schemas)) {
      if (name === 'BaseMessage' || name === 'AgentCard') continue;
      expect(schema['allOf'], name).toEqual([{ $ref: 'base-message.json' }, expect.any(Object)]);
    }
  });

  test('there is one file for each message type', () => {
    const types = Object.values(set.schemas).flatMap((schema) => {
      const part = (schema['allOf'] as readonly JsonSchema[] | undefined)?.[1];
      const type = (part?.['properties'] as Record<string, JsonSchema> | undefined)?.['message_type']?.['const'];
      return type === undefined ? [] : [type];
    });
    expect(types.sort()).toEqual([...MESSAGE_TYPES].sort());
  });

  test('have titles, descriptions and examples that keep their own patterns', () => {
    let examples = 0;
    const visit = (schema: unknown): void => {
      if (typeof schema !== 'object' || schema === null) return;
      const { pattern, examples: given } = schema as { pattern?: string; examples?: readonly string[] };
      for (const example of given ?? []) {
        examples++;
        expect(example).toMatch(new RegExp(pattern ?? ''));
      }
      Object.values(schema).forEach(visit);
    };
    for (const schema of Object.values(set.schemas)) {
      expect(schema['title']).toMatch(/^A2A /);
      expect(schema['description']).toMatch(/\.$/);
      visit(schema);
    }
    expect(examples).toBeGreaterThan(5);
  });
});

describe('the compiled schemas', () => {
  const accepted = loadFixtures('a2a-messages', 'accept').filter(({ options }) => options?.lenient !== true);

  test('the base message takes every valid message, whatever its type', () => {
    for (const { name, input } of accepted) expect(validators.BaseMessage(input), name).toBe(true);
  });

  test('the authenticated message takes those that carry auth, and no others', () => {
    for (const { name, input } of accepted) {
      expect(validators.AuthenticatedMessage(input), name).toBe(Object.hasOwn(input as object, 'auth'));
    }
  });

  test('no message is of two types', () => {
    const { BaseMessage: _, AuthenticatedMessage: __, AgentCard: ___, ...types } = validators;
    for (const { name, input } of accepted) {
      expect(
        Object.values(types).filter((validate) => validate(input)),
        name,
      ).toHaveLength(1);
    }
  });

  test('a card can be checked alone', () => {
    const handshake = accepted.find(({ name }) => name === 'spec-example-handshake')?.input as {
      payload: { agent_card: object };
    };
    expect(validators.AgentCard(handshake.payload.agent_card)).toBe(true);
    expect(validators.AgentCard({ ...handshake.payload.agent_card, agent_id: 'x' })).toBe(false);
  });
});
