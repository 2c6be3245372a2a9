import { expect, test } from 'vitest';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { terminalLog } from './terminal-log.ts';

test('a person sees warnings and errors with what they are about, and no field that may contain a secret', () => {
  const surroundings = new FakeSurroundings();
  const log = terminalLog(surroundings.terminal);
  log.debug({}, 'debug');
  log.info({ agent: 'echo', stderr: 'model loaded\u0007' }, 'the agent wrote to stderr');
  log.info({ method: 'POST', path: '/e2a', status: 200, ms: 12, caller: 'ada' }, 'HTTP request');
  log.warn({ agent: 'echo', token: 'dgm_secret' }, 'the agent failed');
  log.info(
    { request_id: 'r1', response_id: 'p1', sequence: 0, response_kind: 'e2a.chunk', is_final: false },
    'E2A response',
  );
  log.error({}, 'the disk is full');
  log.warn({ bytes: 7, tool: 'files__read', mcp_server: 'files' }, 'a tool is held');
  log.error({ plugin: 'weather', credential: 'crm', value: 'dgm_secret' }, 'damaged');
  log.warn({ tool: null }, 'left out');
  log.error({ type: 'weather/get/req', error: 'no sky' }, 'a request failed');
  log.warn({ tool: 'sky', error: 'fetch failed', at: 'sky.mjs:3:9', stack: 'at …', cause: 'refused' }, 'a tool threw');
  expect(surroundings.notes.split('\n')).toEqual([
    '[echo] model loaded\\u{7}',
    'POST /e2a 200 12 ms ada',
    'warning: the agent failed (agent echo)',
    '{"request_id":"r1","response_id":"p1","sequence":0,"response_kind":"e2a.chunk","is_final":false}',
    'error: the disk is full',
    'warning: a tool is held (mcp_server files, tool files__read)',
    'error: damaged (plugin weather, credential crm)',
    'warning: left out',
    'error: a request failed (type weather/get/req, error no sky)',
    'warning: a tool threw (tool sky, error fetch failed, at sky.mjs:3:9, cause refused)',
    '',
  ]);
  expect(surroundings.out).toBe('');
});

test('control characters from callers never reach the terminal', () => {
  const surroundings = new FakeSurroundings();
  terminalLog(surroundings.terminal).warn({ error: '\u001b[2Jgone\u009b1A' }, 'the agent failed');
  expect(surroundings.notes).toBe('warning: the agent failed (error \\u{1b}[2Jgone\\u{9b}1A)\n');
});

test('lines below the log level are left out, and requests while they are not to be shown', () => {
  const surroundings = new FakeSurroundings();
  let isShown = false;
  const log = terminalLog(surroundings.terminal, { level: 'info', showsRequests: () => isShown });
  const quiet = terminalLog(surroundings.terminal, { level: 'error' });
  quiet.warn({}, 'not shown');
  quiet.info({ agent: 'a', stderr: 'not shown' }, 'the agent wrote to stderr');
  log.info({ method: 'GET', path: '/not-shown', status: 200, ms: 1 }, 'HTTP request');
  isShown = true;
  log.info({ method: 'GET', path: '/shown', status: null, ms: 1 }, 'HTTP request');
  terminalLog(surroundings.terminal, { level: 'debug' }).debug({}, 'shown');
  expect(surroundings.notes).toBe('GET /shown broken off 1 ms\ndebug: shown\n');
});
