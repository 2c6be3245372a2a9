import { describe, expect, test } from 'vitest';
import { checkFreshness } from './freshness.ts';

const SENT = '2025-12-09T15:30:00.000Z';
const at = (seconds: number) => new Date(Date.parse(SENT) + seconds * 1000);
const signed = (timestamp: string) => ({
  timestamp: SENT,
  auth: { agent_id: 'client-agent-001', timestamp, nonce: 'a'.repeat(32), signature: 'AAAA' },
});

describe('freshness of a message', () => {
  test.each([-60, -59.999, 0, 299.999, 300])('a message read %d s after it was sent is fresh', (seconds) => {
    expect(checkFreshness({ timestamp: SENT }, at(seconds))).toEqual([]);
  });

  test('a message older than five minutes is stale, and the error says by how much', () => {
    expect(checkFreshness({ timestamp: SENT }, at(412.5))).toEqual([
      {
        pointer: '/timestamp',
        code: 'stale',
        message: 'timestamp must be at most 300 s old; it is 412.5 s old',
        suggestion: 'send it again with the current time',
      },
    ]);
    expect(checkFreshness({ timestamp: SENT }, at(300.001))).toMatchObject([{ code: 'stale' }]);
  });

  test('a message more than a minute ahead is from the future, and the error says by how much', () => {
    expect(checkFreshness({ timestamp: SENT }, at(-75))).toMatchObject([
      {
        code: 'from_the_future',
        message: 'timestamp must be at most 60 s ahead; it is 75 s ahead',
      },
    ]);
  });

  test('both times are judged, whatever zone they are written in', () => {
    expect(checkFreshness(signed('2025-12-09T16:30:05+01:00'), at(0))).toEqual([]);
    expect(checkFreshness(signed(SENT), at(301)).map(({ pointer }) => pointer)).toEqual([
      '/timestamp',
      '/auth/timestamp',
    ]);
  });

  test('sending and signing more than five seconds apart is refused, in either order', () => {
    for (const time of ['2025-12-09T15:30:05.001Z', '2025-12-09T15:29:54.999Z']) {
      expect(checkFreshness(signed(time), at(0))).toMatchObject([
        {
          pointer: '/auth/timestamp',
          code: 'times_apart',
          message: 'auth.timestamp must be within 5 s of timestamp; they are 5.001 s apart',
        },
      ]);
    }
  });

  test('the window can be another', () => {
    const window = { past: 1_000, future: 0, apart: 0 };
    expect(checkFreshness({ timestamp: SENT }, at(2), window)).toMatchObject([{ code: 'stale' }]);
    expect(checkFreshness({ timestamp: SENT }, at(-0.001), window)).toMatchObject([{ code: 'from_the_future' }]);
  });

  test('an invalid time is reported as one', () => {
    expect(checkFreshness({ timestamp: 'soon' }, at(0))).toMatchObject([{ pointer: '/timestamp', code: 'format' }]);
  });
});
