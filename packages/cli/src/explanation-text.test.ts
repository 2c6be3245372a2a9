import type { Explanation } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { explanationText } from './explanation-text.ts';
import { paint } from './paint.ts';

test('an explanation fits the width of the screen, and leaves out what is null', () => {
  const explanation = {
    request_id: 'r1',
    kind: 'request',
    agent_id: 'ada',
    accepted_at: '2026-01-01T00:00:00.000Z',
    state: 'done',
    node: null,
    received: { dialect: 'e2a', bytes: 10, text: 'word '.repeat(40) },
    allowed: [],
    envelope: { method: 'chat.send', session_id: null, params: { content: 'hi', hint: null, items: [] } },
    way_in: { dropped: [], changed: [], invented: [], warnings: [] },
    answers: [],
    answers_left_out: 0,
    callbacks: [],
    outcome: { status: 'ok', error: null },
    also_by: [],
  } as unknown as Explanation;
  const text = explanationText(explanation, paint(false), 60);
  expect(
    Math.max(
      ...text
        .split('\n')
        .slice(1)
        .map((line) => line.length),
    ),
  ).toBeLessThanOrEqual(60);
  expect(text).not.toContain('null');
  expect(text).toContain('{"method":"chat.send","params":{"content":"hi",\n      "items":[]}}');
  expect(text).toContain('{"status":"ok"}');
});
