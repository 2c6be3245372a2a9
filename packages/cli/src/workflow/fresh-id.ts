import { randomBytes } from 'node:crypto';
import { encodeWorkflow, parseWorkflow } from '@dragoman/protocols/a2e-workflow';

/** The workflow under a new id, so that it runs instead of getting the recorded result. */
export function withFreshId(text: string): string {
  const read = parseWorkflow(text, { lenient: true });
  // An unreadable workflow is passed on, because the server reports its problems.
  if (!read.ok) return text;
  const name = (read.value.executionId ?? 'run').slice(0, 80);
  return encodeWorkflow({ ...read.value, executionId: `${name}-${randomBytes(4).toString('hex')}` });
}
