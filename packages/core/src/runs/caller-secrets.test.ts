import { inspect } from 'node:util';
import { type E2AEnvelope, type E2AResponse, newEnvelope } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import { withoutCallerSecrets } from './caller-secrets.ts';

const TOKEN = 'tok-123456789';
const frame = { body: { [TOKEN]: `Bearer ${TOKEN}`, list: [TOKEN, 7, null] }, session_id: TOKEN } as unknown;

test('a bearer token and the values of extra headers are replaced in everything an agent says', () => {
  const shown = withoutCallerSecrets(asking({ bearer_token: null, extra_headers: { 'x-key': `Token ${TOKEN}` } }));
  expect(shown.frame(frame as E2AResponse)).toMatchObject({
    body: { '[redacted]': 'Bearer [redacted]', list: ['[redacted]', 7, null] },
    // The echo of the request stays: clients find their answer by it.
    session_id: TOKEN,
  });
});

test('they are replaced in what is logged for the run', () => {
  const log = new SilentLog();
  const quiet = withoutCallerSecrets(asking({ bearer_token: TOKEN, extra_headers: {} })).log(log);
  quiet.warn(
    { agent: 'a', error: `401: ${TOKEN}`, cause: new Error(`no ${TOKEN}`), deep: [{ at: TOKEN }] },
    `it returned ${TOKEN}`,
  );
  expect(log.lines).toHaveLength(1);
  expect(inspect(log.lines, { depth: 9 })).not.toContain(TOKEN);
  expect(log.lines).toMatchObject([{ fields: { agent: 'a', error: '401: [redacted]', deep: [{ at: '[redacted]' }] } }]);
});

test('a value under 8 characters is not looked for, and without any the frame stays what it is', () => {
  const short = asking({ bearer_token: '1234567', extra_headers: { flag: true } });
  for (const envelope of [short, newEnvelope()]) {
    expect(withoutCallerSecrets(envelope).frame(frame as E2AResponse)).toBe(frame);
  }
});

function asking(auth: object): E2AEnvelope {
  return { ...newEnvelope(), auth: { ...newEnvelope().auth, ...auth } as E2AEnvelope['auth'] };
}
