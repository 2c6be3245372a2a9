import fc from 'fast-check';
import type { JsonObject } from '../json.ts';
import { CONTENT_TYPES, PRIORITIES } from './message.ts';

const lines = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .filter((text) => text.trim() !== '' && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text));
const agentIds = fc
  .tuple(fc.nat(), fc.nat())
  .map(([chain, token]) => `eip155:${chain}:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:${token}`);
const times = fc
  .date({ min: new Date('2026-02-22'), max: new Date('2099-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const contents = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.tuple(fc.constantFrom(...CONTENT_TYPES), fc.string({ minLength: 1 })).map(([contentType, content]) => ({
    contentType,
    content,
  })),
  fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })).map((content) => ({
    contentType: 'application/json',
    content,
  })),
);

/** Every message a careful sender may write, in shorthand or not. */
export const mailboxMessages: fc.Arbitrary<JsonObject> = fc
  .record(
    {
      version: fc.constantFrom('0.3.0', '0.3', '0.4.1'),
      from: fc.oneof(
        lines,
        fc.record(
          { name: lines, agentId: fc.option(agentIds), callbackUrl: fc.option(fc.webUrl({ validSchemes: ['https'] })) },
          { requiredKeys: ['name'] },
        ),
      ),
      to: fc.oneof(
        lines,
        fc.constant(null),
        fc.record({ name: fc.option(lines), agentId: fc.option(agentIds) }, { requiredKeys: [] }),
      ),
      message: contents,
      metadata: fc.record(
        {
          replyTo: fc.option(lines),
          threadId: fc.option(lines),
          taskType: lines,
          priority: fc.constantFrom(...PRIORITIES),
          expiresAt: fc.option(times),
          timestamp: fc.option(times),
          custom: fc.jsonValue({ maxDepth: 2 }),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: ['from', 'message'] },
  )
  .map((message) => JSON.parse(JSON.stringify(message)) as JsonObject);
