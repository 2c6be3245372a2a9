import { expect, test } from 'vitest';
import { TestClock } from '../../../core/test-support/test-clock.ts';
import { MessageRates, senderOf } from './message-rates.ts';

function ratesOf({ messagesPerMinute = 60, bytesPerMinute = 6_000 }) {
  const clock = new TestClock();
  return { clock, rates: new MessageRates({ clock, messagesPerMinute, bytesPerMinute }) };
}

test("a minute's messages are read at once, and each further one as the bucket refills", () => {
  const { clock, rates } = ratesOf({});
  rates.count('ada', { messages: 60, bytes: 0 });
  expect(rates.delay('ada')).toBe(0);
  rates.count('ada', { messages: 1, bytes: 0 });
  expect(rates.delay('ada')).toBe(1_000);
  clock.pass(1_000);
  expect(rates.delay('ada')).toBe(0);
});

test('bytes count as messages do, whichever is used up first', () => {
  const { rates } = ratesOf({});
  rates.count('ada', { messages: 1, bytes: 6_100 });
  expect(rates.delay('ada')).toBe(1_000);
});

test('unproven peers of an address have a hundredth of the rate, and room for six seconds of it', () => {
  const { clock, rates } = ratesOf({ messagesPerMinute: 6_000 });
  const unproven = senderOf(undefined, '127.0.0.1');
  rates.count(unproven, { messages: 6, bytes: 0 });
  expect(rates.delay(unproven)).toBe(0);
  rates.count(unproven, { messages: 1, bytes: 0 });
  expect(rates.delay(unproven)).toBe(1_000);
  clock.pass(1_000);
  expect(rates.delay(unproven)).toBe(0);
});

test('senders count for themselves', () => {
  const { rates } = ratesOf({});
  rates.count('ada', { messages: 1_000, bytes: 0 });
  expect(rates.delay('ada')).toBeGreaterThan(0);
  expect(rates.delay('bob')).toBe(0);
});

test('senders whose buckets are full again are forgotten', () => {
  const { clock, rates } = ratesOf({});
  for (let at = 0; at < 1_000; at += 1) rates.count(`caller ${at}`, { messages: 1, bytes: 1 });
  expect(rates.size).toBe(1_000);
  clock.pass(60_000);
  rates.count('ada', { messages: 1, bytes: 1 });
  expect(rates.size).toBe(1);
});

test('a caller is not counted with an address of the same name', () => {
  const permissions = { operations: [], apis: [], credentials: [], agents: [], tools: [], workflows: [] };
  expect(senderOf({ id: '::1', kind: 'agent', permissions }, '::1')).not.toBe(senderOf(undefined, '::1'));
});
