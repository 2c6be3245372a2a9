import { expect, test } from 'vitest';
import { errorOfResponse } from './problem.ts';

const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  errorOfResponse(
    new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/problem+json', ...headers } }),
    'http://server/',
  );

test('a problem keeps its code, issues, suggestions and wait', async () => {
  const issues = [{ pointer: '/a', code: 'type', message: 'a must be', suggestion: 'b' }];
  const problem = { code: 'rate_limited', detail: 'Slowly.', issues, suggestions: ['wait'], retry_after: 7 };
  expect(await answer(429, problem)).toMatchObject({
    code: 'rate_limited',
    message: 'Slowly.',
    status: 429,
    retryable: true,
    issues,
    suggestions: ['wait'],
    retryAfter: 7,
  });
});

test('suggestions of the issues are listed, each once', async () => {
  const issue = { pointer: '/a', code: 'unknown_field', message: 'no', suggestion: 'did you mean b?' };
  const issues = [issue, { ...issue, pointer: '/c' }, { pointer: '/d', code: 'type', message: 'no' }];
  expect(await answer(400, { code: 'invalid_message', issues })).toMatchObject({ suggestions: ['did you mean b?'] });
});

test('the header sets how long to wait, in seconds or as a date, and wins', async () => {
  expect(await answer(503, { code: 'busy', retry_after: 7 }, { 'Retry-After': '9' })).toMatchObject({ retryAfter: 9 });
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  const { retryAfter } = await answer(503, { code: 'busy' }, { 'Retry-After': date });
  expect(retryAfter).toBeGreaterThan(3_500);
  expect(retryAfter).toBeLessThan(3_602);
  expect(await answer(503, { code: 'busy' }, { 'Retry-After': 'soon' })).toMatchObject({ retryAfter: undefined });
});

test('a code we do not know is judged by its status', async () => {
  expect(await answer(500, { code: 'new_trouble' })).toMatchObject({ code: 'new_trouble', retryable: true });
  expect(await answer(418, { code: 'teapot' })).toMatchObject({ retryable: false });
});

test('an answer that our server does not send is reported as such, and retried only when a proxy may have sent it', async () => {
  const page = (status: number) => errorOfResponse(new Response('<html>', { status }), 'http://server/');
  expect(await page(502)).toMatchObject({ code: 'unexpected_answer', status: 502, retryable: true });
  expect(await page(404)).toMatchObject({ code: 'unexpected_answer', retryable: false });
  expect(await answer(400, ['no problem'])).toMatchObject({ code: 'unexpected_answer' });
});

test('a refusal of a workflow names the operation', async () => {
  const error = { type: 'ValidationError', message: 'no', operationId: 'fetch', details: { code: 'invalid_message' } };
  const rejected = errorOfResponse(Response.json({ error }, { status: 400 }), 'http://server/');
  expect(await rejected).toMatchObject({ code: 'invalid_message', details: { operationId: 'fetch' } });
});
