import { FAILURES, type FailureCode, failure } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { isFailure, problemAnswer } from './problem.ts';

test.each(Object.keys(FAILURES) as FailureCode[])('%s has its status and its fixed title', (code) => {
  const { status, headers, json } = problemAnswer(failure(code));
  expect(status).toBe(FAILURES[code].http);
  expect(headers).toEqual({ 'Content-Type': 'application/problem+json' });
  expect(json).toEqual({
    type: `urn:dragoman:problem:${code}`,
    title: FAILURES[code].text,
    status,
    detail: FAILURES[code].text,
    code,
    issues: [],
    suggestions: [],
  });
});

test('a problem has the issues, the suggestions, the retry time and the instance', () => {
  const issue = { pointer: '/a', code: 'required', message: 'a is missing', suggestion: 'add a' };
  const details = { issues: [issue], suggestions: ['try b'], retry_after: 1.2, instance: 'urn:uuid:1', secret: 'x' };
  const { json } = problemAnswer(failure('invalid_message', details, 'No.'));
  expect(json).toMatchObject({
    detail: 'No.',
    issues: [issue],
    suggestions: ['try b'],
    retry_after: 2,
    instance: 'urn:uuid:1',
  });
  expect(json).not.toHaveProperty('secret');
});

test('failures are distinguished from answers and principals', () => {
  expect(isFailure(failure('busy'))).toBe(true);
  for (const other of [{ status: 200 }, { id: 'ada', role: 'agent' }, new Uint8Array(1), undefined]) {
    expect(isFailure(other)).toBe(false);
  }
});
