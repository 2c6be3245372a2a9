import { randomBytes } from 'node:crypto';
import { encodeWorkflow, parseWorkflow } from '@dragoman/protocols/a2e-workflow';

/** The same workflow under a fresh id, so that it runs and is not answered from the record. */
export function withFreshId(text: string): string {
  const read = parseWorkflow(text, { lenient: true });
  // The server reports unreadable workflows.
  if (!read.ok) return text;
  const name = (read.value.executionId ?? 'run').slice(0, 80);
  return encodeWorkflow({ ...read.value, executionId: `${name}-${randomBytes(4).toString('hex')}` });
}
