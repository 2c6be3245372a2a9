import { expect, test } from 'vitest';
import { FrameTracker } from './frame-tracker.ts';
import { frame } from './harness.contract.ts';

const whole = [
  frame({ payload: 'a' }),
  frame({ payload: '' }),
  frame({ opcode: 9, payload: 'ping' }),
  frame({ fin: false, payload: 'a' }),
  frame({ opcode: 9 }),
  frame({ opcode: 0, payload: 'b'.repeat(200) }),
  frame({ payload: 'c'.repeat(70_000) }),
  frame({ payload: 'unmasked', masked: false }),
];
const bytes = Buffer.concat(whole);

test('between messages there is nothing unfinished, however the bytes are cut', () => {
  for (const size of [1, 2, 3, 7, 64, 1000, bytes.length]) {
    const tracker = new FrameTracker();
    for (let at = 0; at < bytes.length; at += size) tracker.feed(bytes.subarray(at, at + size), at);
    expect(tracker.since).toBeUndefined();
  }
});

test('inside a message it reports when the message began', () => {
  const tracker = new FrameTracker();
  tracker.feed(frame({ payload: 'whole' }), 1);
  expect(tracker.since).toBeUndefined();
  tracker.feed(frame({ payload: 'a', fin: false }).subarray(0, 1), 2);
  expect(tracker.since).toBe(2);
  tracker.feed(frame({ payload: 'a', fin: false }).subarray(1), 3);
  tracker.feed(frame({ opcode: 9 }), 4);
  tracker.feed(frame({ opcode: 0, payload: 'b', fin: false }), 5);
  expect(tracker.since).toBe(2);
  tracker.feed(Buffer.concat([frame({ opcode: 0 }), frame({ payload: 'next' }).subarray(0, 3)]), 6);
  expect(tracker.since).toBe(6);
});

test('every cut of every frame leaves something unfinished', () => {
  let start = 0;
  for (const one of whole.filter((frame) => frame.length < 300)) {
    for (let cut = 1; cut < one.length; cut++) {
      const tracker = new FrameTracker();
      tracker.feed(one.subarray(0, cut), start++);
      expect(tracker.since).toBe(start - 1);
    }
  }
});

test('the tracker reports the length of the unfinished message over all its frames, before their bytes arrive', () => {
  const tracker = new FrameTracker();
  tracker.feed(frame({ payload: 'whole' }), 1);
  expect(tracker.messageBytes).toBe(0);
  tracker.feed(frame({ payload: 'a'.repeat(300), fin: false }), 2);
  tracker.feed(frame({ opcode: 9, payload: 'ping' }), 3);
  tracker.feed(frame({ opcode: 0, payload: 'b'.repeat(70_000) }).subarray(0, 14), 4);
  expect(tracker.messageBytes).toBe(70_300);
});

test('a long frame is unmasked as it arrives, however its bytes are cut, and others are left as they are', () => {
  const text = 'é'.repeat(40_000);
  const short = frame({ payload: 'b'.repeat(65_535) });
  const sent = Buffer.concat([frame({ payload: text }), short, frame({ payload: text })]);
  for (const size of [1, 3, 13, 1000, sent.length]) {
    const tracker = new FrameTracker();
    const seen = Buffer.from(sent);
    for (let at = 0; at < seen.length; at += size) tracker.feed(seen.subarray(at, at + size), at);
    const frames = [seen.subarray(0, 80_014), seen.subarray(80_014, -80_014), seen.subarray(-80_014)];
    expect(frames[1]?.equals(short)).toBe(true);
    for (const long of [frames[0], frames[2]]) {
      // FIN and text, the mask bit and a length of eight bytes, and a mask that changes nothing.
      expect(long?.subarray(0, 14).toString('hex')).toBe('81ff000000000001388000000000');
      expect(long?.subarray(14).toString()).toBe(text);
    }
  }
});
