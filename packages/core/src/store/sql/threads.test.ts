import { crc32 } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { migrate } from '../migrations.ts';
import { type Database, loadEngine } from '../sqlite-engine.ts';
import { prepareOperations } from './operations.ts';

const DAMAGED = expect.objectContaining({ code: 'store_damaged' });
const PLENTY = 1 << 20;

let database: Database;
let operations: ReturnType<typeof prepareOperations>;

beforeEach(async () => {
  database = (await loadEngine()).open(':memory:');
  migrate(database, 'path');
  operations = prepareOperations(database);
  const insert = database.prepare(`
    INSERT INTO thread_messages (owner, thread_id, sequence, agent_id, message_id, is_answer, text, at, checksum)
    VALUES ('ann', ?, 1, 'echo', 'm', 0, ?, 1000, ?)`);
  for (const threadId of ['whole', 'damaged']) insert.run(threadId, '{"pay":1}', crc32('{"pay":1}'));
  database.exec(`UPDATE thread_messages SET text = '{"pay":9}' WHERE thread_id = 'damaged'`);
});

const pageOf = (threadId: string, maxBytes: number) =>
  operations.reads.threadPage({ owner: 'ann', threadId }, { after: 0, limit: 10, maxBytes }).rows;
const historyOf = (sessionId: string) =>
  operations.reads.latestInThread(
    { owner: 'ann', agentId: 'echo', sessionId },
    { before: 'next', limit: 10, maxBytes: PLENTY },
  );

test.each([PLENTY, 1])('a damaged message is never returned, on a page of %i bytes', (maxBytes) => {
  expect(pageOf('whole', maxBytes)).toMatchObject([{ text: '{"pay":1}' }]);
  expect(() => pageOf('damaged', maxBytes)).toThrow(DAMAGED);
});

test('a damaged message is not part of the history', () => {
  expect(historyOf('whole')).toMatchObject([{ text: '{"pay":1}' }]);
  expect(() => historyOf('damaged')).toThrow(DAMAGED);
});
