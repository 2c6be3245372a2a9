import type { E2AEnvelope } from '@dragoman/protocols';
import type { Call } from '../call/call.ts';
import { targetOf } from '../call/target.ts';
import { choiceParam, sessionParam } from './params.ts';
import type { ServerMethod, ServerMethodContext } from './server-methods.ts';

/**
 * Cancels, pauses or resumes the running requests of a session. `cancel` and `supplement` end the running answers;
 * `pause` holds them. It is not an error if nothing runs.
 */
export const chatInterrupt: ServerMethod = async function* (envelope, call, context) {
  const intent = choiceParam(envelope, 'intent', ['cancel', 'supplement', 'pause', 'resume']) ?? 'cancel';
  const keys = await runningIn(envelope, call, context);
  for (const key of keys) {
    if (intent === 'pause') await context.runs.pause(key);
    else if (intent === 'resume') await context.runs.resume(key);
    else await context.runs.cancel(key, `Interrupted by ${intent}.`);
  }
  const message = keys.length === 0 ? 'nothing was running' : `${intent}: ${keys.length} running`;
  return { event_type: 'chat.interrupt_result', success: true, intent, message };
};

/** ACP's way to cancel. */
export const sessionCancel: ServerMethod = async function* (envelope, call, context) {
  for (const key of await runningIn(envelope, call, context)) {
    await context.runs.cancel(key, 'Cancelled by session/cancel.');
  }
  return {};
};

/**
 * The running requests of a session. A session belongs to one agent: if one is named, requests to others with the same
 * session id are left alone.
 */
async function runningIn(envelope: E2AEnvelope, call: Call, { runs, agentOf }: ServerMethodContext) {
  const session = sessionParam(envelope) ?? null;
  const agentId = targetOf(envelope) === undefined ? undefined : agentOf(envelope, call);
  const running = await runs.running(call.principal.id);
  return running
    .filter((row) => row.sessionId === session && row.requestId !== envelope.request_id)
    .filter((row) => agentId === undefined || row.agentId === agentId);
}
