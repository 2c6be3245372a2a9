import { beforeEach, expect, test } from 'vitest';
import { migrate } from '../migrations.ts';
import { type Database, loadEngine } from '../sqlite-engine.ts';
import type { NewDelivery } from '../store.ts';
import { prepareOperations } from './operations.ts';

const DAMAGED = expect.objectContaining({ code: 'store_damaged' });

let database: Database;
let operations: ReturnType<typeof prepareOperations>;

beforeEach(async () => {
  database = (await loadEngine()).open(':memory:');
  migrate(database, 'path');
  operations = prepareOperations(database);
  for (const id of ['whole', 'damaged']) operations.writes.addDelivery(delivery(id));
  database.exec(`UPDATE deliveries SET body = '{"pay":9}' WHERE id = 'damaged'`);
});

test('a body that nobody wrote is never sent or shown', () => {
  expect(operations.reads.dueBody('whole')).toBe('{"pay":1}');
  expect(() => operations.reads.dueBody('damaged')).toThrow(DAMAGED);
  expect(() => operations.reads.findDelivery('damaged')).toThrow(DAMAGED);
});

test('whose body is damaged is listed with the others, without it', () => {
  const { rows, total } = operations.reads.listDeliveries({ offset: 0, limit: 10 });
  expect([rows.map(({ id }) => id), total]).toEqual([['damaged', 'whole'], 2]);
  expect(rows.some((row) => 'body' in row || 'checksum' in row)).toBe(false);
});

test('whose body is damaged is shown with the request it answers, without it', () => {
  const shown = operations.reads.deliveriesAnswering({ owner: 'ann', requestId: 'r' });
  expect(shown.map(({ id, body }) => [id, body])).toEqual([
    ['whole', '{"pay":1}'],
    ['damaged', null],
  ]);
  expect(shown.some((row) => 'checksum' in row)).toBe(false);
});

test('whose body is damaged ends with the others when their receiver is gone', () => {
  const failure = { at: 2000, reason: 'HTTP 410', status: 410 };
  expect(operations.writes.receiverGone('whole', failure)).toEqual(['whole', 'damaged']);
  const { rows } = operations.reads.listDeliveries({ state: 'dead', offset: 0, limit: 10 });
  expect(rows.map(({ failures }) => failures.length)).toEqual([1, 1]);
});

function delivery(id: string): NewDelivery {
  const ids = { id, owner: 'ann', requestId: 'r', messageId: 'm' };
  return { ...ids, url: 'https://x.example/', body: '{"pay":1}', priority: 1, expiresAt: null, createdAt: 1000 };
}
