import { jsonLog, startServer, systemClock, systemIds } from '@dragoman/server';
import { expect, test } from 'vitest';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { temporaryFolder } from '../../test-support/temporary-folder.ts';
import { main } from '../main.ts';

// test/tour covers the whole tour.

test('a server without the demo is refused, with what to start instead', async () => {
  const folder = temporaryFolder();
  await using server = await startServer({
    config: { port: 0, store: 'memory' },
    folder,
    clock: systemClock,
    ids: systemIds,
    log: jsonLog('fatal'),
  });
  const surroundings = new FakeSurroundings({ folder });
  expect(await main(['tour', '--url', server.url], surroundings)).toBe(1);
  expect(surroundings.out).toBe('');
  expect(surroundings.notes).toContain('the tour needs the demo\n  → start one: npx dragoman dev --port 0');
});

test('a server that was named and does not answer is not replaced by another', async () => {
  const surroundings = new FakeSurroundings({ folder: temporaryFolder() });
  expect(await main(['tour', '--url', 'http://127.0.0.1:9'], surroundings)).toBe(1);
  expect(surroundings.notes).toContain('cannot connect to http://127.0.0.1:9');
  expect(surroundings.notes).toContain('npx dragoman dev');
});
