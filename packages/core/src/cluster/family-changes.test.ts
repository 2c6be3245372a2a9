import { expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import type { FamilyName } from '../store/families.ts';
import { FamilyChanges } from './family-changes.ts';

async function open(versions: Map<FamilyName, number>) {
  const log = new SilentLog();
  return { log, changes: await FamilyChanges.open({ store: { versions: async () => new Map(versions) }, log }) };
}

test('a family is read again once after each change, by every process that has a copy', async () => {
  const versions = new Map<FamilyName, number>([['keys', 4]]);
  const { changes } = await open(versions);
  const read: string[] = [];
  for (const name of ['one', 'other']) {
    changes.on('keys', async () => {
      read.push(name);
      return true;
    });
  }
  await changes.check();
  expect(read).toEqual([]);
  versions.set('keys', 5).set('apis', 1);
  await changes.check();
  await changes.check();
  expect(read).toEqual(['one', 'other']);
});

test('one that was not read as a whole, or could not be read, is read again with the next look', async () => {
  const versions = new Map<FamilyName, number>();
  const { changes, log } = await open(versions);
  const answers: (boolean | Error)[] = [false, new Error('away'), new Error('away'), true];
  changes.on('keys', async () => {
    const answer = answers.shift();
    if (typeof answer !== 'boolean') throw answer;
    return answer;
  });
  versions.set('keys', 1);
  for (let looks = 0; looks < 6; looks += 1) await changes.check();
  expect(answers).toEqual([]);
  expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
});
