import { type Failure, failure } from '@dragoman/protocols';
import { connectFault } from './connect-fault.ts';

/**
 * Nothing was sent. `undefined` for callers that may not learn about the host: a reason would reveal which ports are
 * open.
 */
export function unreachableHost(reason: string | undefined): Failure {
  if (reason === undefined) return failure('unreachable', { sent: false });
  return failure('unreachable', { sent: false, reason }, `The remote host is unreachable: ${reason}.`);
}

/** The host was not looked up, so it is not at fault: `looked_up` distinguishes it from a host that cannot be reached. */
export function notLookedUp(): Failure {
  const message = 'The host was not contacted: too many names are being looked up at the moment.';
  return failure('unreachable', { sent: false, looked_up: false }, message);
}

/** The request was sent, and the answer is not complete: whether the host acted on it is unknown. */
export function brokenAnswer(error: unknown): Failure {
  const reason = connectFault(error);
  return failure(
    'agent_failed',
    { sent: true, reason },
    `The host received the request, but its response was incomplete: ${reason}.`,
  );
}

/** An answer that exceeds a limit. A retry would not help. */
export function excessive(reason: string, suggestions?: readonly string[]): Failure {
  const details = { sent: true, reason, ...(suggestions !== undefined && { suggestions }) };
  return { ...failure('agent_failed', details, `The response was rejected: ${reason}.`), retryable: false };
}

export function late(milliseconds: number, sent: boolean): Failure {
  return failure('timeout', { sent }, `The response did not arrive within ${Math.round(milliseconds)} ms.`);
}

export function tooLarge(maxBytes: number): Failure {
  return excessive(`it is larger than ${maxBytes} bytes`, ['request less at a time: a page, or fewer fields']);
}
