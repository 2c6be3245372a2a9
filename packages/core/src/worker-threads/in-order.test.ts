import { expect, test } from 'vitest';
import { InOrder } from './in-order.ts';

test('values are handed on at once, unless one before them is waited for', async () => {
  const order = new InOrder();
  const seen: string[] = [];
  const see = (value: string) => seen.push(value);
  order.push('first', see);
  expect(seen).toEqual(['first']);
  let arrive = (_: string) => {};
  order.push(new Promise<string>((resolve) => (arrive = resolve)), see);
  order.push('third', see);
  expect(seen).toEqual(['first']);
  arrive('second');
  await order.waiting;
  expect(seen).toEqual(['first', 'second', 'third']);
  expect(order.waiting).toBeUndefined();
  order.push('fourth', see);
  expect(seen).toEqual(['first', 'second', 'third', 'fourth']);
});
