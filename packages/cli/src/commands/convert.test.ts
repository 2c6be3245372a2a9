import { expect, test } from 'vitest';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { main } from '../main.ts';

const MAIL = JSON.stringify({ from: { name: 'MyAgent', callbackUrl: 'https://me.example.com/a2a' }, message: 'Hello' });

async function convert(stdin: string, ...args: string[]) {
  const surroundings = new FakeSurroundings({ stdin, now: new Date('2026-03-28T12:00:30.000Z') });
  const code = await main(['convert', ...args, '-'], surroundings);
  return { code, out: surroundings.out, notes: surroundings.notes };
}

test('a request is converted to another dialect, and every loss is named', async () => {
  const { code, out } = await convert(MAIL, '--from', 'a2a-mailbox', '--to', 'a2a-messages', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({
    result: expect.objectContaining({ message_type: 'request', timestamp: '2026-03-28T12:00:30.000Z' }),
    losses: [{ pointer: '/from/callbackUrl', why: 'a2a-messages has no place for it' }],
    warnings: [],
  });
});

test('a person sees the result alone on stdout, the losses beside it', async () => {
  const { code, out, notes } = await convert(MAIL, '--from', 'a2a-mailbox', '--to', 'a2a-messages');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ message_type: 'request' });
  expect(notes).toBe('lost /from/callbackUrl: a2a-messages has no place for it\n');
});

test('the dialect it is written in is found out', async () => {
  const { code, out } = await convert(MAIL, '--to', 'e2a', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out).result).toMatchObject({ method: 'chat.send', params: { content: 'Hello' } });
});

test('a workflow as JSON lines is converted to a request', async () => {
  const lines = [
    { type: 'operationUpdate', operationId: 'w', operation: { Wait: { duration: 1 } } },
    { type: 'beginExecution', executionId: 'e1', operationOrder: ['w'] },
  ];
  const { code, out } = await convert(lines.map((line) => JSON.stringify(line)).join('\n'), '--to', 'e2a', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out).result).toMatchObject({ request_id: 'e1', method: 'workflow.execute' });
});

test('a message that cannot be converted is refused with every reason', async () => {
  const answer = JSON.stringify({ response_kind: 'e2a.complete', request_id: 'r', body: { result: 1 } });
  const { code, notes } = await convert(MAIL, '--from', 'e2a', '--to', 'a2a-messages');
  expect(code).toBe(1);
  expect(notes).toContain('error: the message cannot be converted to another dialect\n');
  const output = await convert(answer, '--from', 'e2a', '--to', 'a2a-mailbox', '--json');
  expect(output.code).toBe(1);
  expect(JSON.parse(output.out)).toMatchObject({ result: null, losses: [], warnings: [] });
  expect(JSON.parse(output.out).issues.length).toBeGreaterThan(0);
});

test('a message of no dialect is reported with the option that gives one', async () => {
  const { code, notes } = await convert('{"a":1}', '--to', 'e2a');
  expect(code).toBe(1);
  expect(notes).toContain('specify the dialect: --from e2a|');
});

test('an unknown dialect is not understood; the nearest is named', async () => {
  const { code, notes } = await convert(MAIL, '--to', 'a2a-mesages');
  expect(code).toBe(2);
  expect(notes).toContain('did you mean a2a-messages?');
});
