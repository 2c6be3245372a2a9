import { expect, test } from 'vitest';
import { refusalOf } from './planner.ts';

const finding = (code: 'credential_host' | 'path_not_produced') =>
  ({ severity: 'error', code, message: 'no', pointer: '/operation', operationId: 'a' }) as const;

test('a credential that is not bound to the host is a permission that is missing; beside other faults the workflow is not valid', () => {
  expect(refusalOf([finding('credential_host')])).toMatchObject({ code: 'forbidden', details: { operationId: 'a' } });
  expect(refusalOf([finding('credential_host'), finding('path_not_produced')]).code).toBe('invalid_message');
});
