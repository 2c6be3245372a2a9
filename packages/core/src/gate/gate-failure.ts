import { type Failure, failure } from '@dragoman/protocols';
import { connectFault } from './connect-fault.ts';

/** Nothing was sent. Who may not know what stands behind a host hears no reason: it would tell open ports from closed ones. */
export function unreachableHost(reason: string | undefined): Failure {
  if (reason === undefined) return failure('unreachable', { sent: false });
  return failure('unreachable', { sent: false, reason }, `The host is unreachable: ${reason}.`);
}

/** Nobody was asked where the host is, so that it is not to blame: `looked_up` tells it from a host that cannot be reached. */
export function notLookedUp(): Failure {
  const message = 'The host was not asked: too many names are being looked up at the moment.';
  return failure('unreachable', { sent: false, looked_up: false }, message);
}

/** Something was sent, and what came back is no whole answer: whether it was acted upon is not known. */
export function brokenAnswer(error: unknown): Failure {
  const reason = connectFault(error);
  return failure('agent_failed', { sent: true, reason }, `The host was asked and did not answer in full: ${reason}.`);
}

/** An answer that goes over a bound. Asking again would not make it smaller. */
export function excessive(reason: string, suggestions?: readonly string[]): Failure {
  const details = { sent: true, reason, ...(suggestions !== undefined && { suggestions }) };
  return { ...failure('agent_failed', details, `The answer was not taken: ${reason}.`), retryable: false };
}

export function late(milliseconds: number, sent: boolean): Failure {
  return failure('timeout', { sent }, `The answer did not come within ${Math.round(milliseconds)} ms.`);
}

/** An answer of which nobody wants so much. */
export function tooLarge(maxBytes: number): Failure {
  return excessive(`it is larger than ${maxBytes} bytes`, ['ask for less at a time: a page, or fewer fields']);
}
