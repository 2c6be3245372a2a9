import { beforeEach, describe, expect, test } from 'vitest';
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

/** As the next process claims them. */
function claimed() {
  database.exec('UPDATE deliveries SET epoch = 0');
  return operations.writes.claimDeliveries(10);
}

test('a damaged body is never sent or shown', () => {
  expect(operations.reads.dueBody('whole')).toBe('{"pay":1}');
  expect(() => operations.reads.dueBody('damaged')).toThrow(DAMAGED);
  expect(() => operations.reads.findDelivery('damaged')).toThrow(DAMAGED);
});

test('whose body is damaged is listed with the others, without it', () => {
  const { rows, total } = operations.reads.listDeliveries({ limit: 10 });
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
  const { rows } = operations.reads.listDeliveries({ state: 'dead', limit: 10 });
  expect(rows.map(({ failures }) => failures.length)).toEqual([1, 1]);
});

describe.each([
  ['where it goes', "url = 'https://y.example/'"],
  ['whose it is', "owner = 'bob'"],
  ['until when it may be sent', 'expires_at = 5000'],
  ['what it answers', "request_id = 's'"],
  ['its messageId', "message_id = 'n'"],
  ['its priority', 'priority = 0'],
  ['when it was made', 'created_at = 1001'],
])('of a callback, %s', (_, change) => {
  beforeEach(() => database.exec(`UPDATE deliveries SET ${change} WHERE id = 'whole'`));

  test('is reported as damaged when it has changed', () => {
    expect(claimed().map(({ id, isDamaged }) => [id, isDamaged])).toEqual([
      ['whole', true],
      ['damaged', undefined],
    ]);
    expect(() => operations.reads.findDelivery('whole')).toThrow(DAMAGED);
  });

  test('is used without a check in a row from before there was a checksum', () => {
    database.exec('UPDATE deliveries SET head_checksum = NULL');
    expect(claimed().some(({ isDamaged }) => isDamaged)).toBe(false);
    expect(operations.reads.findDelivery('whole')).toMatchObject({ body: '{"pay":1}' });
  });
});

test('a waiting delivery is returned without its checksum', () => {
  const [row] = claimed();
  expect(row).toEqual({
    ...{ id: 'whole', owner: 'ann', requestId: 'r', messageId: 'm', url: 'https://x.example/' },
    ...{ priority: 1, expiresAt: null, attempts: 0, nextAt: 1000 },
  });
});

test('what is shown to another owner than it was written for is shown without its body', () => {
  database.exec("UPDATE deliveries SET owner = 'bob' WHERE id = 'whole'");
  const shown = operations.reads.deliveriesAnswering({ owner: 'bob', requestId: 'r' });
  expect(shown).toMatchObject([{ id: 'whole', body: null }]);
  expect(shown.some((row) => 'headChecksum' in row)).toBe(false);
});

test('whose failures are damaged ends, and is listed with the others', () => {
  database.exec(`UPDATE deliveries SET failures = '[{"at":1' WHERE id = 'whole'`);
  operations.writes.deliveryFailed('whole', { at: 2000, reason: 'HTTP 500' }, null);
  const { rows } = operations.reads.listDeliveries({ limit: 10 });
  expect(rows.map(({ id, state, failures }) => [id, state, failures.map(({ reason }) => reason)])).toEqual([
    ['damaged', 'due', []],
    ['whole', 'dead', ['why it failed before is damaged in the database', 'HTTP 500']],
  ]);
});

function delivery(id: string): NewDelivery {
  const ids = { id, owner: 'ann', requestId: 'r', messageId: 'm' };
  return { ...ids, url: 'https://x.example/', body: '{"pay":1}', priority: 1, expiresAt: null, createdAt: 1000 };
}
