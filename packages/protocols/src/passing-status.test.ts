import { expect, test } from 'vitest';
import { isPassingStatus } from './passing-status.ts';

test.each([408, 425, 429, 500, 502, 503, 504])('%i may be another answer later', (status) => {
  expect(isPassingStatus(status)).toBe(true);
});

test.each([200, 204, 301, 400, 401, 403, 404, 409, 410, 413, 422, 451])('%i stays', (status) => {
  expect(isPassingStatus(status)).toBe(false);
});
