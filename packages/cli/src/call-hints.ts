import type { DragomanError } from '@dragoman/client';
import { FAILURES, type FailureCode } from '@dragoman/protocols';
import { PROGRAM } from './command.ts';

/** One A2A request, as given on the command line. */
export interface RequestedCall {
  readonly as: string;
  readonly agentId: string;
  /** The file with the private key, if the request was signed. */
  readonly sign: string | undefined;
}

/** Suggestions for a refused A2A request, in addition to the server's. */
export function callHints({ code, details, requestId }: DragomanError, { as, agentId, sign }: RequestedCall): string[] {
  const isA = (failure: FailureCode) => code === FAILURES[failure].a2a;
  if (isA('no_route')) return [`list the agents you can call: ${PROGRAM} agents discover`];
  if (isA('unauthenticated')) {
    if (sign === undefined) return [`this server accepts only signed messages: --sign FILE (${PROGRAM} agents keygen)`];
    return [
      `register the public key of ${sign} for ${as}: ${PROGRAM} agents add ${as} --may-call ${agentId} --public-key FILE`,
      'or leave out --sign and use its API key: --key KEY',
    ];
  }
  if (isA('forbidden')) {
    const keyOf = details['sender_id'];
    if (typeof keyOf === 'string') return [`call as ${keyOf}: --as ${keyOf}`, `or give the key of ${as}: --key KEY`];
    return [
      `grant it with ${PROGRAM} agents add ${as} --may-call ${agentId} --may-call …; this replaces the list, so name every agent`,
    ];
  }
  const isOurs = Object.values(FAILURES).some(({ a2a, fault }) => a2a === code && fault === 'sender');
  return isOurs || requestId === undefined ? [] : [`check its state: ${PROGRAM} explain ${requestId}`];
}
