import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FrameOrder } from './invariants.ts';
import { type E2AResponse, newResponse } from './response.ts';

function frame(sequence: number, given: Partial<E2AResponse> = {}): E2AResponse {
  return newResponse({ request_id: 'r1', response_kind: 'e2a.chunk', sequence, ...given });
}

function codesOf(...frames: readonly E2AResponse[]): string[] {
  const order = new FrameOrder();
  return [...frames.flatMap((each) => order.receive(each)), ...order.end()].map(({ code }) => code);
}

const last = { is_final: true };
const keepalive = frame(-1, { body: { delta_kind: 'custom', delta: { event_type: 'keepalive' } } });
const push = frame(0, { metadata: { _jiuwenswarm_server_push: true }, is_final: true });

describe('the order of frames', () => {
  test('0, 1, 2 with the last one final is as it should be', () => {
    expect(codesOf(frame(0), frame(1), frame(2, last))).toEqual([]);
  });

  test('an answer of one frame is as it should be', () => {
    expect(codesOf(frame(0, last))).toEqual([]);
  });

  test('a stream that starts past 0 has a gap', () => {
    expect(codesOf(frame(1, last))).toEqual(['sequence_gap']);
  });

  test('a gap is reported once, and counting continues from there', () => {
    expect(codesOf(frame(0), frame(5), frame(6, last))).toEqual(['sequence_gap']);
  });

  test('a repeated frame is refused', () => {
    expect(codesOf(frame(0), frame(0), frame(1, last))).toEqual(['sequence_repeated']);
  });

  test('a frame from before is refused', () => {
    expect(codesOf(frame(0), frame(1), frame(2), frame(0), frame(3, last))).toEqual(['sequence_backwards']);
  });

  test('a frame after the final one is refused', () => {
    expect(codesOf(frame(0, last), frame(1))).toEqual(['after_final']);
  });

  test('a second final response is refused', () => {
    expect(codesOf(frame(0, last), frame(1, last))).toEqual(['second_final']);
  });

  test('a frame of another request is refused and changes nothing', () => {
    expect(codesOf(frame(0), frame(1, { request_id: 'r2' }), frame(1, last))).toEqual(['wrong_request']);
  });

  test('a watcher that knows its request takes no other', () => {
    expect(new FrameOrder('r9').receive(frame(0))[0]?.message).toBe('request_id must be "r9" throughout; got "r1"');
  });

  test('a stream that ends without a final frame is reported', () => {
    expect(codesOf(frame(0))).toEqual(['no_final']);
    expect(codesOf()).toEqual(['no_final']);
  });

  test('keepalives and pushes stand outside of the order, also after the end', () => {
    expect(codesOf(push, frame(0), keepalive, frame(1, last), keepalive, push)).toEqual([]);
  });

  test('-1 without the word keepalive is not a keepalive', () => {
    expect(codesOf(frame(-1), frame(0, last))).toEqual(['sequence_backwards']);
  });

  test('a push is one only by the flag itself', () => {
    const pretended = frame(0, { metadata: { _jiuwenswarm_server_push: 'yes' } });
    expect(codesOf(pretended, frame(0, last))).toEqual(['sequence_repeated']);
  });

  test('any change of a good stream is found', () => {
    const length = fc.integer({ min: 3, max: 12 });
    fc.assert(
      fc.property(length, fc.nat(), fc.nat(), (count, from, to) => {
        const frames = Array.from({ length: count }, (_, index) => frame(index, { is_final: index === count - 1 }));
        expect(codesOf(...frames)).toEqual([]);
        const [moved] = frames.splice(from % count, 1);
        if (moved === undefined) return;
        frames.splice(to % count, 0, moved);
        expect(codesOf(...frames).length > 0).toBe(from % count !== to % count);
      }),
    );
  });
});
