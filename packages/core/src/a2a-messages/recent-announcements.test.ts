import type { AgentAnnouncementMessage } from '@dragoman/protocols/a2a-messages';
import { expect, test } from 'vitest';
import { RecentAnnouncements } from './recent-announcements.ts';

test('the same bytes of the same caller get the same answer, for the latest 256 queries', async () => {
  const recent = new RecentAnnouncements();
  let made = 0;
  const make = async () => ({ message_id: String(++made) }) as AgentAnnouncementMessage;
  const id = async (caller: string, query: Uint8Array | string) =>
    (await recent.answer(caller, query, make))?.message_id;
  expect([await id('ada', 'q'), await id('ada', Buffer.from('q'))]).toEqual(['1', '1']);
  expect([await id('eve', 'q'), await id('ada', 'q ')]).toEqual(['2', '3']);
  for (let number = 0; number < 254; number++) await id('ada', `q${number}`);
  expect(await id('ada', 'q')).toBe('258');
});
