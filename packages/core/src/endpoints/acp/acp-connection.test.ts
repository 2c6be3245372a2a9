import type { Json, JsonObject } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { TestClock } from '../../../test-support/test-clock.ts';
import { TestIds } from '../../../test-support/test-ids.ts';
import { AcpConnection } from './acp-connection.ts';
import type { AcpHub } from './acp-hub.ts';

const SESSION = { session_id: 's', agent_id: 'worker', title: null, cwd: '/', updated_at: '' };
const ANSWERS: Readonly<Record<string, Json>> = {
  'session.list': { sessions: [SESSION], total_pages: 1 },
  'history.get': { messages: [{ request_id: 'r', method: 'chat.send', status: 'in_progress' }], total_pages: 1 },
  'agents.list': { agents: [] },
};

test('session/resume is answered once, even if the answer that it follows cannot be read', async () => {
  const sent: JsonObject[] = [];
  const hub: AcpHub = {
    request: async (method) => ANSWERS[method] ?? null,
    send: () => expect.unreachable(),
    async *read() {
      throw new Error('the server is gone');
    },
    cancel: async () => {},
  };
  const connection = new AcpConnection({
    hub,
    send: async (message) => void sent.push(message),
    ...{ clock: new TestClock(), ids: new TestIds(), log: new SilentLog() },
    ...{ version: '1', transport: 'stdio' },
  });
  const params = { sessionId: 's', cwd: '/', mcpServers: [] };
  const resumed = connection.receive({ jsonrpc: '2.0', id: 1, method: 'session/resume', params });
  await expect(resumed).rejects.toThrow('the server is gone');
  expect(sent).toMatchObject([{ id: 1, result: {} }]);
});
