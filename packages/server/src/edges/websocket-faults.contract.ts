import { frame } from './harness.contract.ts';

/** Invalid frames, and the close code of RFC 6455 §7.4.1 for each. */
export const WEBSOCKET_FAULTS: readonly (readonly [name: string, bytes: Buffer, code: number])[] = [
  // §5.1, §5.2: the header.
  ['an unmasked frame', frame({ payload: 'a', masked: false }), 1002],
  ['a reserved bit', frame({ payload: 'a', reserved: 1 }), 1002],
  ['the bit of a compression that was not negotiated', frame({ payload: 'a', reserved: 4 }), 1002],
  ['a reserved opcode', frame({ opcode: 3, payload: 'a' }), 1002],
  ['a reserved control opcode', frame({ opcode: 11 }), 1002],
  ['a length of a terabyte', frame({ claimedLength: 1n << 40n }), 1009],
  ['a length over 2^63', frame({ claimedLength: (1n << 63n) + 1n }), 1009],
  ['a byte more than allowed', frame({ claimedLength: BigInt(8 * 1024 * 1024 + 1) }), 1009],
  [
    'a byte more than allowed, in two fragments',
    Buffer.concat([frame({ fin: false, payload: 'a' }), frame({ opcode: 0, claimedLength: BigInt(8 * 1024 * 1024) })]),
    1009,
  ],
  // §5.4: fragments.
  ['a continuation of nothing', frame({ opcode: 0, payload: 'a' }), 1002],
  ['a continuation after the end', Buffer.concat([frame({ opcode: 10 }), frame({ opcode: 0, fin: false })]), 1002],
  ['a message inside a message', Buffer.concat([frame({ fin: false }), frame({ payload: 'a' })]), 1002],
  [
    '65 fragments',
    // The message is complete, so that the time limit does not close the connection.
    Buffer.concat([
      frame({ fin: false }),
      ...Array(63).fill(frame({ opcode: 0, fin: false, payload: 'a' })),
      frame({ opcode: 0, payload: 'a' }),
    ]),
    1008,
  ],
  // §5.5: control frames.
  ['a fragmented ping', frame({ opcode: 9, fin: false }), 1002],
  ['a ping with too much in it', frame({ opcode: 9, payload: 'a'.repeat(126) }), 1002],
  ['a close with too much in it', frame({ opcode: 8, payload: Buffer.alloc(126, 3) }), 1002],
  ['a flood of pings', Buffer.concat(Array(21).fill(frame({ opcode: 9 }))), 1008],
  ['a flood of pongs', Buffer.concat(Array(21).fill(frame({ opcode: 10 }))), 1008],
  // §7.4: close codes and reasons.
  ['a close with one byte', frame({ opcode: 8, payload: 'a' }), 1002],
  ...[1, 999, 1004, 1005, 1006, 1015, 2999, 5000].map(
    (code) => [`a close with ${code}, which is never sent`, closeWith(code), 1002] as const,
  ),
  ['a close whose reason is not UTF-8', closeWith(1000, Buffer.from([0xff])), 1007],
  // §5.6, §8.1: text.
  ['binary', frame({ opcode: 2, payload: 'a' }), 1003],
  ['text that is not UTF-8', frame({ payload: Buffer.from([0xc3, 0x28]) }), 1007],
  ['an overlong slash', frame({ payload: Buffer.from([0xc0, 0xaf]) }), 1007],
  ['half a surrogate pair', frame({ payload: Buffer.from([0xed, 0xa0, 0x80]) }), 1007],
  ['a character past the last', frame({ payload: Buffer.from([0xf4, 0x90, 0x80, 0x80]) }), 1007],
  ['a character that is cut off', frame({ payload: Buffer.from([0xe2, 0x82]) }), 1007],
  [
    'text that is not UTF-8, in two fragments',
    Buffer.concat([
      frame({ fin: false, payload: Buffer.from([0xe2]) }),
      frame({ opcode: 0, payload: Buffer.from([0x28, 0xa1]) }),
    ]),
    1007,
  ],
];

function closeWith(code: number, reason: Uint8Array = Buffer.alloc(0)): Buffer {
  return frame({ opcode: 8, payload: Buffer.concat([Buffer.from([code >> 8, code & 255]), reason]) });
}
