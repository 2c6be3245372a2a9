import { type E2AResponse, encodeResponse, newEnvelope, newResponse } from '@dragoman/protocols';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import { FrameMaker } from './frame-maker.ts';
import { FrameWriter, frameFrom, frameText } from './frame-text.ts';

const text = fc.string({ unit: 'grapheme' });
const textOrNull = fc.option(text);
const object = fc.dictionary(text, fc.jsonValue(), { noNullPrototype: true }) as fc.Arbitrary<E2AResponse['body']>;

const ofAgent = fc.option(object, { nil: {} });

const frames = fc
  .record({
    request_id: textOrNull,
    response_id: textOrNull,
    sequence: fc.nat(),
    is_final: fc.boolean(),
    status: fc.constantFrom('in_progress', 'succeeded', 'failed'),
    response_kind: text,
    timestamp: textOrNull,
    body: object,
    jsonrpc_id: fc.oneof(textOrNull, fc.integer()),
    session_id: fc.constantFrom('s1', 's2', null),
    agent_ref: fc.option(object),
    method: textOrNull,
    projections: ofAgent,
    metadata: ofAgent,
    acp_meta: ofAgent,
    extras: ofAgent,
  })
  .map((given) => newResponse(given as Partial<E2AResponse>));

test('frames are written as the dialect writes them, whatever is in them and in the one before', () => {
  fc.assert(
    fc.property(fc.array(frames, { minLength: 1 }), (answer) => {
      const writer = new FrameWriter();
      for (const frame of answer) expect(writer.write(frame)).toBe(JSON.stringify(encodeResponse(frame)));
    }),
  );
});

test('the frames of an answer too', () => {
  const envelope = newEnvelope({ request_id: 'r"1', method: 'chat.send', session_id: 's', agent_ref: { id: 'echo' } });
  const maker = new FrameMaker({ envelope, clock: new TestClock(), ids: new TestIds() });
  const writer = new FrameWriter();
  for (const frame of [maker.chunk({ delta_kind: 'text', delta: 'é\n' }), maker.complete({ content: 1 })]) {
    expect(writer.write(frame)).toBe(JSON.stringify(encodeResponse(frame)));
  }
});

test('a frame from the journal keeps its very bytes', () => {
  const odd = '{ "sequence":0,"is_final":true}';
  expect(frameText(frameFrom(odd))).toBe(odd);
});
