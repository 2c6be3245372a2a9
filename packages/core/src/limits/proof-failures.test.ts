import { expect, test } from 'vitest';
import type { Clock } from '../ports/ports.ts';
import { ProofFailures } from './proof-failures.ts';

class SetClock implements Clock {
  time = Date.UTC(2026, 2, 28, 12);
  now = () => new Date(this.time);
  elapsed = () => this.time;
  wait = () => new Promise<void>(() => {});
  after = () => () => {};
}

test('an address with too many failed proofs is ignored for a while, and no other is delayed', () => {
  const clock = new SetClock();
  const proofFailures = new ProofFailures({ clock, perMinute: 3 });
  for (let time = 0; time < 3; time++) {
    expect(proofFailures.refuse('192.0.2.1')).toBeUndefined();
    proofFailures.failed('192.0.2.1');
  }
  expect(proofFailures.refuse('192.0.2.1')).toMatchObject({ code: 'rate_limited', details: { limit: 3 } });
  expect(proofFailures.refuse('192.0.2.2')).toBeUndefined();
  clock.time += 62_000;
  expect(proofFailures.refuse('192.0.2.1')).toBeUndefined();
});

test('a clock set back releases no address', () => {
  const clock = new SetClock();
  const proofFailures = new ProofFailures({ clock, perMinute: 1 });
  proofFailures.failed('192.0.2.1');
  clock.time -= 7_200_000;
  expect(proofFailures.refuse('192.0.2.1')).toMatchObject({ code: 'rate_limited' });
});
